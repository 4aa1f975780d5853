"""The figures of this program: the web process, the collectors, each cluster.

Names and units follow the conventions of Prometheus: base units (seconds, bytes), and
`_total` for what only grows. What is not known has no sample.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

import redis

from dashboard.live.metrics import SOCKETS, beat_pulse_ms, worker_metrics
from dashboard.live.state import LiveState, live_state
from dashboard.models import Cluster

from .exposition import Family, labelled

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
    "sweep_ms": "How long the last sweep over all groups took.",
    "watched_ms": "How long the last sweep over watched groups took.",
    "pending_rows": "Rows that wait for the database or the lake.",
    "lake_failing": "1 while the lake cannot be written and samples wait in memory.",
}
WORKER_COUNTERS: Final = {
    "missed": "Ticks of sweeps that nobody followed, because nothing ran in time.",
}
WORKER_GAUGES: Final = {
    "late_ms": "How late the last sweep over all groups began.",
    "loop_held_ms": "Longest time for which the collector's loop stood still.",
}


def own_figures() -> Iterator[Family]:
    """Return the figures of now; without a cache only those of this process."""
    sockets = Family(
        "rocketscope_live_sockets", "Live sockets that this web process serves."
    )
    sockets.add("", SOCKETS.open)
    yield sockets
    up = Family("rocketscope_cache_up", "1 while the cache answers.")
    try:
        gathered = list(_from_cache(live_state()))
    except (redis.RedisError, ValueError):
        up.add("", 0)
        yield up
        return
    up.add("", 1)
    yield up
    yield from gathered


def _from_cache(state: LiveState) -> Iterator[Family]:
    yield _beat_age(state)
    workers = worker_metrics(state)
    for name, text in CLUSTER_COUNTERS.items():
        yield _by_cluster(_counter(name, text), workers, name)
    for name, text in CLUSTER_GAUGES.items():
        yield _by_cluster(_gauge(name, text), workers, name)
    for name, text in WORKER_COUNTERS.items():
        yield _by_worker(_counter(name, text), workers, name)
    for name, text in WORKER_GAUGES.items():
        yield _by_worker(_gauge(name, text), workers, name)
    yield from _clusters(state)


def _counter(name: str, text: str) -> Family:
    return Family(f"rocketscope_collector_{name}_total", text, "counter")


def _gauge(name: str, text: str) -> Family:
    return Family(f"rocketscope_collector_{name.replace('_ms', '_seconds')}", text)


def _by_cluster(
    family: Family, workers: Mapping[str, Mapping[str, Any]], name: str
) -> Family:
    for worker, figures in workers.items():
        for cluster, numbers in figures.get("clusters", {}).items():
            _add(family, labelled(worker=worker, cluster=cluster), numbers, name)
    return family


def _by_worker(
    family: Family, workers: Mapping[str, Mapping[str, Any]], name: str
) -> Family:
    for worker, figures in workers.items():
        _add(family, labelled(worker=worker), figures.get("worker", {}), name)
    return family


def _add(family: Family, labels: str, numbers: Mapping[str, Any], name: str) -> None:
    # A collector older than this process does not have all of them.
    if name in numbers:
        number = numbers[name]
        family.add(labels, number / 1000 if name.endswith("_ms") else number)


def _beat_age(state: LiveState) -> Family:
    age = Family(
        "rocketscope_beat_pulse_age_seconds",
        "Time since beat last showed that it lives; dead above 3.",
    )
    pulse_ms = beat_pulse_ms(state)
    if pulse_ms is not None:
        age.add("", max(0.0, time.time() - pulse_ms / 1000))
    return age


def _clusters(state: LiveState) -> Iterator[Family]:
    level = Family("rocketscope_groups", "Groups of a cluster by how they fare.")
    lag = Family(
        "rocketscope_lag_messages",
        "Messages not consumed yet, over all groups, as far as known.",
    )
    answered = Family(
        "rocketscope_brokers_answered", "Brokers that answered the last sweep."
    )
    broker = Family(
        "rocketscope_broker_answered",
        "1 if the broker answered the last sweep, else 0.",
    )
    age = Family(
        "rocketscope_sweep_age_seconds",
        "Time since the last sweep over all groups began.",
    )
    lost = Family(
        "rocketscope_lake_unread_files_deleted",
        "Landing files that went in the last day before a roll-up had read them.",
    )
    for row in Cluster.objects.filter(configured=True):
        name, labels = row.name, labelled(cluster=row.name)
        gap = state.lake_gap(name)
        lost.add(labels, gap["files"] if gap else 0)
        overview = state.overview(name)
        if overview is None:
            continue
        totals = overview["totals"]
        for each, count in totals["by_level"].items():
            level.add(labelled(cluster=name, level=each), count)
        if totals["lag"] is not None:
            lag.add(labels, totals["lag"])
        answered.add(labels, totals["brokers_answered"])
        for one in overview["brokers"]:
            broker.add(labelled(cluster=name, broker=one["name"]), int(one["answered"]))
        age.add(labels, time.time() - overview["taken_at"] / 1000)
    yield from (level, lag, answered, broker, age, lost)
