"""The REST API under /api/v1: what the pages show, for programs.

Documents of clusters and groups are passed on as the collector encoded them; see
`dashboard.live.documents` for their fields. Every answer that is not a success has a
`detail` that names the value. Browsers are signed in; programs send a token. What a
caller may do is decided for the cluster and the group of the address.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from ninja.errors import ValidationError
from redis import RedisError

from dashboard.accounts.pace import TooManyCallsError
from dashboard.administration.api import router as administration
from dashboard.administration.refusals import (
    AdministrationError,
    SilentClusterError,
    UnknownThingError,
)
from dashboard.alerts.api import router as alerts
from dashboard.alerts.refusals import AlertRefusedError
from dashboard.brokers.api import router as brokers
from dashboard.brokers.writes import BrokerError, NoStateError, UnknownBrokerError
from dashboard.clients.api import router as clients
from dashboard.clusters.api import router as clusters
from dashboard.clusters.writes import (
    BusyTestingError,
    ClusterError,
    UnknownClusterError,
)
from dashboard.dead_letters.api import router as dead_letters
from dashboard.dead_letters.writes import ResendRefusedError
from dashboard.findings.api import router as findings
from dashboard.frame.errors import BusyError
from dashboard.frame.outages import outage_of
from dashboard.groups.api import router as groups
from dashboard.hosting.api import router as hosting
from dashboard.hosting.writes import FleetError, UnknownGroupError
from dashboard.labs.api import router as labs
from dashboard.labs.writes import LabBusyError, LabRefusedError, UnknownLabError
from dashboard.messages.api import router as messages
from dashboard.messages.writes import (
    MessageGoneError,
    MessageRefusedError,
)
from dashboard.offsets.api import router as offsets
from dashboard.offsets.writes import OffsetsError
from dashboard.overview.api import router as overview
from dashboard.reports.api import router as reports
from dashboard.reports.data.view import ViewError
from dashboard.reports.figures.window import WindowError
from dashboard.reports.making import NotMadeError
from dashboard.reports.request.refusals import (
    ReportRefusedError,
    TooManyReportsError,
)
from dashboard.rest.document import DocumentedAPI, refusal_of
from dashboard.rest.refusals import ReadOnlyRefusal
from dashboard.rest.signing import BrowserAuth, TokenAuth
from dashboard.saved_views.api import router as saved_views
from dashboard.search.api import router as search
from dashboard.switching.api import router as switching
from dashboard.teams.api import router as teams
from dashboard.teams.writes import TakenError, TeamError
from dashboard.timeline.api import router as timeline
from dashboard.timers.api import router as timers
from dashboard.topics.api import router as topics
from dashboard.whatif.api import router as whatif
from dashboard.whatif.writes import ScenarioError
from rmqcore.errors import ArgumentError, RmqError

from . import addresses  # noqa: F401  registers how groups are written in paths

STATUS: Final[Mapping[type[Exception], int]] = {
    PermissionDenied: 403,
    ReadOnlyRefusal: 403,
    Http404: 404,
    MessageGoneError: 404,
    UnknownBrokerError: 404,
    UnknownClusterError: 404,
    UnknownGroupError: 404,
    UnknownLabError: 404,
    UnknownThingError: 404,
    AdministrationError: 409,
    BrokerError: 409,
    FleetError: 409,
    LabBusyError: 409,
    MessageRefusedError: 409,
    OffsetsError: 409,
    ResendRefusedError: 409,
    ScenarioError: 409,
    TakenError: 409,
    AlertRefusedError: 422,
    ArgumentError: 422,
    ClusterError: 422,
    LabRefusedError: 422,
    ReportRefusedError: 422,
    TeamError: 422,
    RmqError: 424,
    SilentClusterError: 424,
    BusyTestingError: 429,
    TooManyReportsError: 429,
    ViewError: 422,
    WindowError: 422,
    NotMadeError: 500,
    BusyError: 503,
    NoStateError: 503,
}
"""The status for each refusal; an error without an entry has that of its base class."""

Refusal: TypeAlias = Exception | type[Exception]

api = DocumentedAPI(
    title="RocketScope",
    version=settings.VERSION,
    description="Who consumes what in a RocketMQ cluster, now.",
    urls_namespace="api",
    auth=[TokenAuth(), BrowserAuth()],
    # The page of documentation would load scripts from elsewhere.
    docs_url=None,
)
for feature, router in {
    "overview": overview,
    "clusters": clusters,
    "search": search,
    "saved_views": saved_views,
    "teams": teams,
    "brokers": brokers,
    "administration": administration,
    "topics": topics,
    "clients": clients,
    "groups": groups,
    "findings": findings,
    "timeline": timeline,
    "whatif": whatif,
    "switching": switching,
    "hosting": hosting,
    "messages": messages,
    "offsets": offsets,
    "dead_letters": dead_letters,
    "alerts": alerts,
    "timers": timers,
    "labs": labs,
    "reports": reports,
}.items():
    api.add_router("", router, tags=[feature])


@api.exception_handler(RedisError)
def no_cache(request: HttpRequest, error: RedisError) -> HttpResponse:
    """Say that the current state cannot be read or written."""
    return api.create_response(request, {"detail": outage_of(error)}, status=503)


@api.exception_handler(ValidationError)
def values_that_do_not_fit(
    request: HttpRequest, error: ValidationError
) -> HttpResponse:
    """Name each value that does not fit, and what would."""
    return api.create_response(request, refusal_of(error), status=422)


@api.exception_handler(TooManyCallsError)
def too_many_calls(request: HttpRequest, error: TooManyCallsError) -> HttpResponse:
    """Say when the next call may come."""
    answer = api.create_response(request, {"detail": str(error)}, status=429)
    answer["Retry-After"] = str(error.retry_after)
    return answer


def _answer_with(status: int) -> Callable[[HttpRequest, Refusal], HttpResponse]:
    def answer(request: HttpRequest, error: Refusal) -> HttpResponse:
        told = {"detail": str(error)}
        if code := getattr(error, "code", ""):
            told["code"] = code
        return api.create_response(request, told, status=status)

    return answer


for error, status in STATUS.items():
    api.add_exception_handler(error, _answer_with(status))

urlpatterns: Final = api.urls[0]
