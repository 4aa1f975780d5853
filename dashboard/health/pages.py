"""Pages for machines: whether the process lives and can serve, and its metrics.

None of them requires signing in, so none shows names of groups, topics or users.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Any, Final

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from dashboard.live.metrics import SOCKETS, beat_pulse_ms, worker_metrics
from dashboard.live.state import LiveState, live_state
from dashboard.models import Cluster

logger = logging.getLogger(__name__)

CLUSTER_COUNTERS: Final = {
    "sweeps": "Sweeps over all groups of a cluster.",
    "skipped": "Sweeps left out because the last one of its kind still ran.",
    "failed": "Sweeps that ended with an error.",
    "refused": "Sweeps that ended because their writes found the lease run out.",
    "leads": "Times this collector took the lead of a cluster from another.",
    "lapses": "Times the lease ran out and was taken up again before another led.",
    "dropped_rows": "Rows that could neither be written nor kept.",
    "faults": "Looks at single groups that this program failed to judge.",
}
CLUSTER_GAUGES: Final = {
    "leading": "1 while this collector leads the cluster.",
    "groups": "Groups seen by the last sweep.",
    "faulty_groups": "Groups that this program fails to judge.",
    "watched": "Groups swept each second because somebody looks at them.",
    "watched_beyond": "Watched groups beyond the limit, swept with all others.",
    "sweep_ms": "How long the last sweep over all groups took, in ms.",
    "watched_ms": "How long the last sweep over watched groups took, in ms.",
    "pending_rows": "Rows that wait for the database or the lake.",
    "lake_failing": "1 while the lake cannot be written and samples wait in memory.",
}

WORKER_COUNTERS: Final = {
    "missed": "Ticks of sweeps that nobody followed, because nothing ran in time.",
}
WORKER_GAUGES: Final = {
    "late_ms": "How late the last sweep over all groups began, in ms.",
    "loop_held_ms": "Longest time for which the collector's loop stood still, in ms.",
}


@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """Report that this process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(_request: HttpRequest) -> JsonResponse:
    """Report whether database and cache answer: 200 when both do, else 503."""
    answers = {
        "database": _answers("database", _ask_database),
        "cache": _answers("cache", _ask_cache),
    }
    ready = all(answers.values())
    said = {name: "ok" if answer else "away" for name, answer in answers.items()}
    return JsonResponse({"ready": ready, **said}, status=200 if ready else 503)


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the figures of web process, collectors and clusters for Prometheus.

    They need the ROCKETSCOPE_METRICS_TOKEN; without that setting, only loopback may
    read them.
    """
    if not _may_read_metrics(request):
        return HttpResponse(
            "metrics are for loopback, or for holders of ROCKETSCOPE_METRICS_TOKEN\n",
            content_type="text/plain",
            status=403,
        )
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _Figures(Collector):
    def collect(self) -> Iterator[Metric]:
        sockets = GaugeMetricFamily(
            "rocketscope_live_sockets", "Live sockets that this web process serves."
        )
        sockets.add_metric([], SOCKETS.open)
        yield sockets
        up = GaugeMetricFamily("rocketscope_cache_up", "1 while the cache answers.")
        try:
            gathered = list(_from_cache(live_state()))
        except (redis.RedisError, ValueError):
            up.add_metric([], 0)
            yield up
            return
        up.add_metric([], 1)
        yield up
        yield from gathered


def _from_cache(state: LiveState) -> Iterator[Metric]:
    yield _beat_age(state)
    workers = worker_metrics(state)
    for name, text in CLUSTER_COUNTERS.items():
        counter = CounterMetricFamily(
            f"rocketscope_collector_{name}", text, labels=["worker", "cluster"]
        )
        yield _filled(counter, workers, name)
    for name, text in CLUSTER_GAUGES.items():
        gauge = GaugeMetricFamily(
            f"rocketscope_collector_{name}", text, labels=["worker", "cluster"]
        )
        yield _filled(gauge, workers, name)
    for name, text in WORKER_COUNTERS.items():
        missed = CounterMetricFamily(
            f"rocketscope_collector_{name}", text, labels=["worker"]
        )
        yield _filled_by_worker(missed, workers, name)
    for name, text in WORKER_GAUGES.items():
        timing = GaugeMetricFamily(
            f"rocketscope_collector_{name}", text, labels=["worker"]
        )
        yield _filled_by_worker(timing, workers, name)
    yield from _clusters(state)


def _beat_age(state: LiveState) -> Metric:
    age = GaugeMetricFamily(
        "rocketscope_beat_pulse_age_seconds",
        "Time since beat last showed that it lives; dead above 3.",
    )
    pulse_ms = beat_pulse_ms(state)
    if pulse_ms is not None:
        age.add_metric([], max(0.0, time.time() - pulse_ms / 1000))
    return age


def _filled(
    family: CounterMetricFamily | GaugeMetricFamily,
    workers: dict[str, dict[str, Any]],
    name: str,
) -> Metric:
    for worker, figures in workers.items():
        for cluster, numbers in figures.get("clusters", {}).items():
            if (
                name in numbers
            ):  # a collector older than this page does not have all of them
                family.add_metric([worker, cluster], numbers[name])
    return family


def _filled_by_worker(
    family: CounterMetricFamily | GaugeMetricFamily,
    workers: dict[str, dict[str, Any]],
    name: str,
) -> Metric:
    for worker, figures in workers.items():
        numbers = figures.get("worker", {})
        if name in numbers:
            family.add_metric([worker], numbers[name])
    return family


def _clusters(state: LiveState) -> Iterator[Metric]:
    level = GaugeMetricFamily(
        "rocketscope_groups",
        "Groups of a cluster by how they fare.",
        labels=["cluster", "level"],
    )
    lag = GaugeMetricFamily(
        "rocketscope_lag_messages",
        "Messages not consumed yet, over all groups, as far as known.",
        labels=["cluster"],
    )
    answered = GaugeMetricFamily(
        "rocketscope_brokers_answered",
        "Brokers that answered the last sweep.",
        labels=["cluster"],
    )
    age = GaugeMetricFamily(
        "rocketscope_sweep_age_seconds",
        "Time since the last sweep over all groups began.",
        labels=["cluster"],
    )
    lost = GaugeMetricFamily(
        "rocketscope_lake_unread_files_deleted",
        "Landing files that went in the last day before a roll-up had read them.",
        labels=["cluster"],
    )
    for row in Cluster.objects.filter(configured=True):
        gap = state.lake_gap(row.name)
        lost.add_metric([row.name], gap["files"] if gap else 0)
        overview = state.overview(row.name)
        if overview is None:
            continue
        totals = overview["totals"]
        for name, count in totals["by_level"].items():
            level.add_metric([row.name, name], count)
        if totals["lag"] is not None:
            lag.add_metric([row.name], totals["lag"])
        answered.add_metric([row.name], totals["brokers_answered"])
        age.add_metric([row.name], time.time() - overview["taken_at"] / 1000)
    yield from (level, lag, answered, age, lost)


def _answers(name: str, ask: Callable[[], object]) -> bool:
    """Tell whether `ask` succeeds; errors go only to the log, as strangers may ask."""
    try:
        ask()
    except (DatabaseError, redis.RedisError) as error:
        logger.warning("not ready, the %s is away: %s", name, error)
        return False
    return True


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


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _ask_cache() -> None:
    if not settings.ROCKETSCOPE_REDIS_URL:
        raise redis.ConnectionError("ROCKETSCOPE_REDIS_URL is not set")
    live_state().client.ping()
