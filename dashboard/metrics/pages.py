"""What Prometheus scrapes: this program and clusters; groups; queues on request.

Readers are not signed in: they send the ROCKETSCOPE_METRICS_TOKEN or, without that
setting, ask from loopback.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from functools import wraps
from ipaddress import ip_address
from typing import Final

import redis
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from dashboard.live.state import LiveState, live_state
from dashboard.models import Cluster

from .exposition import CONTENT_TYPE, Family, exposed
from .groups import group_figures
from .own import own_figures
from .queues import QueueRequest, RequestError, queue_figures

View = Callable[[HttpRequest], HttpResponse]

_PLAIN: Final = "text/plain; charset=utf-8"


def for_scrapers(view: View) -> View:
    """Let a view run only for those who may read metrics; answer others with 403."""

    @require_safe
    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if not _may_read_metrics(request):
            told = "metrics are for loopback, or for holders of the metrics token"
            return _refused(403, f"{told}, ROCKETSCOPE_METRICS_TOKEN")
        return view(request)

    return guarded


@for_scrapers
def own(_request: HttpRequest) -> HttpResponse:
    """Return the figures of this web process, of the collectors and of clusters."""
    return _exposed(own_figures())


@for_scrapers
def of_groups(request: HttpRequest) -> HttpResponse:
    """Return the figures of every group of all clusters, or of `cluster`."""
    try:
        clusters = _clusters(request)
        return _exposed(group_figures(_state(), clusters))
    except RequestError as error:
        return _refused(error.status, str(error))
    except redis.RedisError:
        return _refused(503, "the cache is away, so nothing is known of groups now")


@for_scrapers
def of_queues(request: HttpRequest) -> HttpResponse:
    """Return the figures of the queues of the groups that are asked for."""
    try:
        wanted = QueueRequest.of(request.GET.getlist("group"))
        clusters = _clusters(request)
        return _exposed(queue_figures(_state(), clusters, wanted))
    except RequestError as error:
        return _refused(error.status, str(error))
    except redis.RedisError:
        return _refused(503, "the cache is away, so nothing is known of queues now")


def _clusters(request: HttpRequest) -> list[str]:
    """Return the clusters that are asked for; raise `RequestError` for unknown ones."""
    known = list(
        Cluster.objects.filter(configured=True)
        .order_by("name")
        .values_list("name", flat=True)
    )
    wanted = request.GET.getlist("cluster") or known
    for name in wanted:
        if name not in known:
            raise RequestError(f"no cluster {name!r} is configured", status=404)
    return wanted


def _state() -> LiveState:
    if not settings.ROCKETSCOPE_REDIS_URL:
        raise redis.ConnectionError("ROCKETSCOPE_REDIS_URL is not set")
    return live_state()


def _exposed(families: Iterable[Family]) -> HttpResponse:
    return HttpResponse(exposed(families), content_type=CONTENT_TYPE)


def _refused(status: int, sentence: str) -> HttpResponse:
    return HttpResponse(f"{sentence}\n", content_type=_PLAIN, status=status)


def _may_read_metrics(request: HttpRequest) -> bool:
    """Let a holder of the token in or, without one, this machine's own processes.

    Requests passed on by a proxy do not come from this machine, whatever their address.
    """
    if token := settings.ROCKETSCOPE_METRICS_TOKEN:
        given = request.headers.get("Authorization", "")
        return secrets.compare_digest(given.encode(), f"Bearer {token}".encode())
    if "X-Forwarded-For" in request.headers or "Forwarded" in request.headers:
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
