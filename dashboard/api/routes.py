"""The REST API under /api/v1: what the pages show, for programs.

Documents of clusters and groups are passed on as the collector encoded them; see
`dashboard.live.documents` for their fields. Every answer that is no success has a
`detail` which names the value. Signed-in users read; operators change groups.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

import orjson
import redis
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError
from ninja.security import django_auth

from dashboard.findings.finding import WORST_FIRST
from dashboard.live.arrival import group_text
from dashboard.live.documents import FindingState, GroupState, Overview
from dashboard.live.state import LiveState, live_state
from dashboard.models import Cluster, User
from dashboard.services.fleet import (
    FleetError,
    UnknownGroupError,
    add_member,
    remove_member,
)
from dashboard.views.findings import say_finding
from dashboard.views.words import word
from dashboard.whatif import (
    compare,
    comparison_document,
    from_query,
    read_situation,
)
from rmqcore.errors import ArgumentError

from .brokers import router as brokers_router
from .hosted import router as hosted_router
from .labs import router as labs_router
from .reports import router as reports_router
from .schemas import (
    ClusterOut,
    FindingOut,
    GroupFindingOut,
    MembersIn,
    MembersOut,
    Problem,
    SaidOut,
    WhatIfOut,
)
from .timeline import router as timeline_router
from .timers import router as timers_router

JSON: Final = "application/json"

api = NinjaAPI(
    title="RocketScope",
    version=settings.VERSION,
    description="Who consumes what in a RocketMQ cluster, now.",
    urls_namespace="api",
    auth=django_auth,
    # The page of documentation would load scripts from elsewhere.
    docs_url=None,
)
api.add_router("", brokers_router)
api.add_router("", labs_router)
api.add_router("", reports_router)
api.add_router("", timers_router)
api.add_router("", timeline_router)

api.add_router("", hosted_router)

ERRORS: Final[dict[int, Any]] = {401: Problem, 404: Problem, 503: Problem}


@api.get("/clusters", response={200: list[ClusterOut], 401: Problem, 503: Problem})
def clusters(request: HttpRequest) -> list[dict[str, Any]]:
    """List the configured clusters."""
    state = _state()
    rows = Cluster.objects.filter(configured=True)
    return [_cluster_row(row, state.overview(row.name)) for row in rows]


@api.get("/clusters/{cluster}/overview", response={200: Overview, **ERRORS})
def overview(request: HttpRequest, cluster: str) -> HttpResponse:
    """Return a cluster's brokers, sums and groups, worst first."""
    text = _state().overview_text(_known(cluster))
    if text is None:
        _refuse(503, f"cluster {cluster!r} has not been collected yet")
    return HttpResponse(text, content_type=JSON)


@api.get(
    "/clusters/{cluster}/groups/{group:group}", response={200: GroupState, **ERRORS}
)
def group(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Return a group's members, queues and owners."""
    return HttpResponse(_group_text(cluster, group), content_type=JSON)


@api.get(
    "/clusters/{cluster}/groups/{group:group}/findings",
    response={200: list[FindingOut], **ERRORS},
)
def findings(request: HttpRequest, cluster: str, group: str) -> list[FindingOut]:
    """Return what is wrong with a group, worst first, in words and as values."""
    state: GroupState = orjson.loads(_group_text(cluster, group))
    return [_finding(finding) for finding in state["findings"]]


@api.get(
    "/clusters/{cluster}/findings",
    response={200: list[GroupFindingOut], **ERRORS},
)
def cluster_findings(request: HttpRequest, cluster: str) -> list[GroupFindingOut]:
    """Return which group of a cluster has which findings, worst first."""
    overview = _state().overview(_known(cluster))
    if overview is None:
        _refuse(503, f"cluster {cluster!r} has not been collected yet")
    found = [
        GroupFindingOut(
            group=row["group"],
            key=mark["key"],
            level=mark["level"],
            title=word("finding", f"{mark['key']}.title"),
        )
        for row in overview["groups"]
        for mark in row["findings"]
    ]
    return sorted(found, key=lambda each: WORST_FIRST.index(each.level))


@api.get(
    "/clusters/{cluster}/groups/{group:group}/whatif",
    response={200: WhatIfOut, 422: Problem, **ERRORS},
)
def whatif(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Compare every strategy, under the scenario that the query describes."""
    state = orjson.loads(_group_text(cluster, group))
    try:
        scenario = from_query(request.META.get("QUERY_STRING", ""))
        document = comparison_document(compare(read_situation(state), scenario))
    except ArgumentError as error:
        _refuse(422, str(error))
    return HttpResponse(orjson.dumps(document), content_type=JSON)


@api.post(
    "/clusters/{cluster}/groups/{group:group}/members",
    response={200: MembersOut, 403: Problem, 409: Problem, **ERRORS},
)
def members(
    request: HttpRequest, cluster: str, group: str, body: MembersIn
) -> dict[str, int]:
    """Add a member to a managed group, or remove one."""
    actor = request.user
    assert isinstance(actor, User)  # noqa: S101 - django_auth let nobody else pass
    _known(cluster)
    try:
        if body.action == "add":
            count = add_member(actor, cluster, group, body.reason)
        else:
            count = remove_member(
                actor, cluster, group, body.reason, client_id=body.client_id
            )
    except PermissionDenied as error:
        _refuse(403, str(error))
    except UnknownGroupError as error:
        _refuse(404, str(error))
    except FleetError as error:
        _refuse(409, str(error))
    return {"members_wanted": count}


@api.exception_handler(redis.RedisError)
def no_cache(request: HttpRequest, error: redis.RedisError) -> HttpResponse:
    """Say that the current state cannot be read."""
    detail = f"the cache does not answer: {error}"
    return api.create_response(request, {"detail": detail}, status=503)


def _state() -> LiveState:
    if not settings.ROCKETSCOPE_REDIS_URL:
        _refuse(503, "ROCKETSCOPE_REDIS_URL is not set, so there is no current state")
    return live_state()


def _known(cluster: str) -> str:
    if not Cluster.objects.filter(name=cluster, configured=True).exists():
        _refuse(404, f"no cluster {cluster!r} is configured")
    return cluster


def _group_text(cluster: str, group: str) -> bytes:
    text = group_text(_state(), _known(cluster), group)
    if text is None:
        _refuse(404, f"no group {group!r} was seen on cluster {cluster!r}")
    return text


def _finding(finding: FindingState) -> FindingOut:
    said = say_finding(finding)
    return FindingOut(
        key=finding["key"],
        level=finding["level"],
        since=finding["since"],
        said=SaidOut(title=said.title, text=said.text, advice=said.advice),
        values=finding["values"],
        evidence=finding["evidence"],
        queues=finding["queues"],
        queue_count=finding["queue_count"],
        members=finding["members"],
        member_count=finding["member_count"],
        at_least=finding.get("at_least", []),
        as_of=finding.get("as_of"),
    )


def _refuse(status: int, detail: str) -> NoReturn:
    raise HttpError(status, detail)


def _cluster_row(row: Cluster, overview: Overview | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": row.name,
        "embedded": row.embedded,
        "name_servers": row.name_servers,
    }
    if overview is None:
        return found
    totals = overview["totals"]
    return {
        **found,
        "taken_at": overview["taken_at"],
        "groups": totals["groups"],
        "by_level": totals["by_level"],
        "brokers": totals["brokers"],
        "brokers_answered": totals["brokers_answered"],
        "error": overview.get("error"),
    }
