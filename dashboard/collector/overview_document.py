"""Builds a cluster's `Overview`: one row per group, worst first, and the sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, cast

from dashboard.live.documents import (
    Level,
    Overview,
    OverviewBroker,
    OverviewRow,
    OverviewTotals,
    Strategy,
)
from dashboard.live.numbering import Stamp
from rmqcore.model.snapshot import (
    ClusterSnapshot,
    GroupKind,
    GroupSnapshot,
    StrategySource,
    TopicKind,
)

from .group_document import (
    Sight,
    group_totals,
    known_sum,
    orderly,
    rate_is_partial,
    rounded,
    sight_status,
)
from .presence import BrokerState, Standing
from .status import worst_first
from .trend import LagTrend

WORST_FIRST: Final[tuple[Level, ...]] = ("crit", "warn", "unk", "ok")
"""Unknown groups are listed above healthy ones, and below those known to be bad."""


def overview_row(sight: Sight, trend: LagTrend) -> OverviewRow:
    """Return a group's row in the list; its lag is added to the trend."""
    group = sight.group
    totals = group_totals(sight)
    held = {owner for row in sight.ownership.rows for owner in row.owners}
    owned = group.kind is GroupKind.OWNED and sight.ownership.reason is None
    trend.add(sight.taken_at_ms, None if totals["lag_partial"] else totals["lag"])
    return {
        "group": group.name,
        "kind": group.kind.value,
        "mode": group.mode,
        "consume_type": group.consume_type,
        "managed": sight.managed,
        "topics": _listed(frozenset(key[0] for key in group.queues.keys)),
        "brokers": _listed(frozenset(key[1] for key in group.queues.keys)),
        "versions": _listed(frozenset(m.version for m in group.members if m.version)),
        "members": totals["members"],
        "queues": totals["queues"],
        "unowned": totals["unowned"],
        "idle": sum(m.client_id not in held for m in group.members) if owned else 0,
        "lag": totals["lag"],
        "lag_partial": totals["lag_partial"],
        "oldest_ms": totals["oldest_ms"],
        "oldest_partial": totals["oldest_partial"],
        "rate_in": totals["rate_in"],
        "rate_out": totals["rate_out"],
        "rate_partial": totals.get("rate_partial", False),
        "skew": totals["skew"],
        "strategy": _strategy(group.strategy, group.strategy_source),
        "orderly": orderly(group),
        "status": sight_status(sight, totals),
        "findings": [
            {"key": finding["key"], "level": finding["level"]}
            for finding in worst_first(sight.findings)
        ],
        "lag_trend": trend.points(),
        "complete": sight.complete,
        "as_of": sight.held["as_of"] if sight.held else None,
        "fault": None,
    }


@lru_cache(maxsize=4096)
def _listed(names: frozenset[str]) -> list[str]:
    """Return names in order; rows with the same names share the list."""
    return sorted(names)


@lru_cache(maxsize=256)
def _strategy(name: str | None, source: StrategySource | None) -> Strategy:
    """Return a row's strategy, which rows share."""
    return {"name": name, "source": source.value if source else None}


def rested_row(last: OverviewRow, sight: Sight, trend: LagTrend) -> OverviewRow:
    """Return the row of a group at rest, whose members and findings stay the same."""
    totals = group_totals(sight)
    trend.add(sight.taken_at_ms, totals["lag"])
    return {
        **last,
        "lag": totals["lag"],
        "oldest_ms": totals["oldest_ms"],
        "oldest_partial": totals["oldest_partial"],
        "rate_in": totals["rate_in"],
        "rate_out": totals["rate_out"],
        "rate_partial": totals["rate_partial"],
        "skew": totals["skew"],
        "status": sight_status(sight, totals),
        "lag_trend": trend.points(),
    }


def faded_row(last: OverviewRow, sight: Sight, trend: LagTrend) -> OverviewRow:
    """Return the row of a group at rest in which nothing waits and nothing moved.

    Its rates alone can differ; mostly it is the last one.
    """
    trend.add(sight.taken_at_ms, last["lag"])
    rates = sight.rates
    news: dict[str, Any] = {
        "rate_in": rounded(rates.rate_in),
        "rate_out": rounded(rates.rate_out),
        "rate_partial": rate_is_partial(rates),
        "lag_trend": trend.points(),
    }
    if all(last.get(name) == value for name, value in news.items()):
        return last
    return cast("OverviewRow", {**last, **news})


def still_row(last: OverviewRow, trend: LagTrend, at_ms: int) -> OverviewRow:
    """Return the row of a group in which nothing moves; mostly the last one."""
    trend.add(at_ms, last["lag"])
    points = trend.points()
    return last if points is last["lag_trend"] else {**last, "lag_trend": points}


def unjudged_row(group: GroupSnapshot) -> OverviewRow:
    """Return the row of a group whose name and queues alone are known."""
    return {
        "group": group.name,
        "kind": group.kind.value,
        "mode": group.mode,
        "consume_type": group.consume_type,
        "managed": False,
        "topics": sorted({topic for topic, _broker, _id in group.queues.keys}),
        "brokers": sorted({broker for _topic, broker, _id in group.queues.keys}),
        "versions": sorted({m.version for m in group.members if m.version}),
        "members": None,
        "queues": len(group.queues),
        "unowned": 0,
        "idle": 0,
        "lag": None,
        "lag_partial": True,
        "oldest_ms": None,
        "oldest_partial": True,
        "rate_in": None,
        "rate_out": None,
        "skew": None,
        "strategy": {"name": None, "source": None},
        "orderly": None,
        "status": {"level": "unk", "word": "unknown"},
        "findings": [],
        "lag_trend": LagTrend().points(),
        "complete": False,
        "as_of": None,
    }


def overview_document(
    cluster: str,
    snapshot: ClusterSnapshot,
    rows: Iterable[OverviewRow],
    stamp: Stamp,
    now_ms: int,
    *,
    standing: Standing,
) -> Overview:
    """Return the whole document, numbered with `stamp`."""
    listed = sorted(rows, key=_badness)
    return {
        "run": stamp.run,
        "seq": stamp.seq,
        "cluster": cluster,
        "taken_at": snapshot.taken_at_ms,
        "brokers": [_broker(state, now_ms) for state in standing.brokers],
        "totals": _totals(snapshot, listed),
        "groups": listed,
        "nameservers": list(standing.nameservers),
    }


def _badness(row: OverviewRow) -> tuple[int, int, str]:
    level = WORST_FIRST.index(row["status"]["level"])
    return (level, -(row["lag"] or 0), row["group"])


def _broker(state: BrokerState, now_ms: int) -> OverviewBroker:
    broker = state.snapshot
    return {
        "name": broker.name,
        "cluster": broker.cluster,
        "address": broker.asked_address,
        "version": broker.version,
        "answered": broker.answered,
        "took_ms": None if broker.took_ms is None else round(broker.took_ms, 1),
        "age_ms": None
        if state.answered_at_ms is None
        else max(0, now_ms - state.answered_at_ms),
        "error": broker.error,
        "state": state.condition,
        "since": state.since_ms,
    }


def _totals(snapshot: ClusterSnapshot, rows: Sequence[OverviewRow]) -> OverviewTotals:
    levels = Counter([row["status"]["level"] for row in rows])
    normal = [t for t in snapshot.topics.values() if t.kind is TopicKind.NORMAL]
    members = [row["members"] for row in rows]
    lags = [row["lag"] for row in rows if row["lag"] is not None]
    ages = [row["oldest_ms"] for row in rows]
    oldest_ms = max((age for age in ages if age is not None), default=None)
    oldest = None if oldest_ms is None else rows[ages.index(oldest_ms)]
    return {
        "groups": len(rows),
        "by_level": {level: levels[level] for level in WORST_FIRST},
        "topics": len(normal),
        "members": sum(filter(None, members)),
        "members_partial": None in members,
        "queues": sum(len(topic.keys) for topic in normal),
        "lag": sum(lags) if lags else None,
        "lag_partial": any(row["lag_partial"] for row in rows),
        "oldest_ms": oldest_ms,
        "oldest_partial": any(row["oldest_partial"] for row in rows),
        "oldest_group": oldest["group"] if oldest else None,
        "rate_in": _topic_rate(rows),
        "rate_out": rounded(known_sum([row["rate_out"] for row in rows])),
        "brokers": len(snapshot.brokers),
        "brokers_answered": sum(broker.whole for broker in snapshot.brokers),
    }


def _topic_rate(rows: Sequence[OverviewRow]) -> float | None:
    # Groups that read the same topics see the same messages: each set counts once.
    by_topics: dict[tuple[str, ...], float] = {}
    for row in rows:
        if row["rate_in"] is not None:
            topics = tuple(row["topics"])
            by_topics[topics] = max(by_topics.get(topics, 0.0), row["rate_in"])
    return rounded(known_sum(list(by_topics.values())))
