"""The figures of consumer groups, from the list of groups of each cluster.

A figure that is not known has no sample, and neither has a group that this program
failed to judge. A list that has not been renewed for a minute gives no samples at all:
old figures would look like current ones, and `rocketscope_sweep_age_seconds` says why
there are none. Where figures cover only a part of the queues, or one broker did not
answer, `rocketscope_group_complete` is 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from dashboard.brokers.reach import is_partial
from dashboard.live.documents import OverviewRow
from dashboard.live.state import LiveState
from rmqcore.allocation.drain import drain_time

from .exposition import Family, labelled, seconds

OLD_AFTER_SECONDS: Final = 60.0
"""Six sweeps of all groups."""

SEVERITIES: Final = {"ok": 0, "warn": 1, "crit": 2}

Number = float | int | None


def _is_whole(row: OverviewRow) -> bool:
    part = row["lag_partial"] or row.get("rate_partial", False)
    return not (part or is_partial(row))


def _drain_seconds(row: OverviewRow) -> float | None:
    """Return how long the lag takes; None where lag or rates cover only a part."""
    if not _is_whole(row):
        return None
    return drain_time(row["lag"], row["rate_out"], row["rate_in"])


def _oldest_is_known(row: OverviewRow) -> int | None:
    if row["oldest_ms"] is None:
        return None
    return int(not row.get("oldest_partial", False))


def _owned(row: OverviewRow, count: int) -> int | None:
    """Return a count that has a meaning only where it is known who owns queues."""
    known = row["kind"] == "owned" and row["members"] is not None
    return count if known else None


GAUGES: Final[dict[str, tuple[str, Callable[[OverviewRow], Number]]]] = {
    "lag_messages": (
        "Messages not consumed yet, over the queues whose lag is known.",
        lambda row: row["lag"],
    ),
    "oldest_message_age_seconds": (
        "Age of the oldest message not consumed yet.",
        lambda row: seconds(row["oldest_ms"]),
    ),
    "oldest_message_complete": (
        "1 if that age is known for every queue; 0 if there may be an older message.",
        _oldest_is_known,
    ),
    "drain_seconds": (
        "How long the lag takes to drain at the present rates; +Inf while it does "
        "not fall.",
        _drain_seconds,
    ),
    "in_messages_per_second": (
        "Messages that arrive for the group each second.",
        lambda row: row["rate_in"],
    ),
    "out_messages_per_second": (
        "Messages that the group consumes each second.",
        lambda row: row["rate_out"],
    ),
    "members": ("Members that are connected.", lambda row: row["members"]),
    "idle_members": (
        "Members without a queue.",
        lambda row: _owned(row, row["idle"]),
    ),
    "queues": ("Queues of the topics that the group reads.", lambda row: row["queues"]),
    "unowned_queues": (
        "Queues without an owner.",
        lambda row: _owned(row, row["unowned"]),
    ),
    "skew_ratio": (
        "Lag of the member with most of it, divided by the mean; 1 is even.",
        lambda row: row["skew"],
    ),
    "severity": (
        "How the group fares: 0 well, 1 warning, 2 critical; no sample if unknown.",
        lambda row: SEVERITIES.get(row["status"]["level"]),
    ),
    "complete": (
        "1 if lag and rates cover every queue of the group; 0 if there may be more.",
        lambda row: int(_is_whole(row)),
    ),
}


def group_figures(state: LiveState, clusters: Sequence[str]) -> Iterator[Family]:
    """Return the figures of all groups of some clusters."""
    rows = [
        (cluster, labelled(cluster=cluster, group=row["group"]), row)
        for cluster in clusters
        for row in current_rows(state, cluster)
    ]
    for name, (text, value_of) in GAUGES.items():
        family = Family(f"rocketscope_group_{name}", text)
        for _cluster, labels, row in rows:
            value = value_of(row)
            if value is not None:
                family.add(labels, value)
        yield family
    finding = Family(
        "rocketscope_group_finding", "1 for each finding that holds for the group now."
    )
    for cluster, _labels, row in rows:
        for mark in row["findings"]:
            finding.add(
                labelled(
                    cluster=cluster,
                    group=row["group"],
                    finding=mark["key"],
                    level=mark["level"],
                ),
                1,
            )
    yield finding


def current_rows(state: LiveState, cluster: str) -> list[OverviewRow]:
    """Return the groups of a cluster that were judged lately; [] from an old list."""
    overview = state.overview(cluster)
    if overview is None or is_old(overview["taken_at"]):
        return []
    return [row for row in overview["groups"] if not row.get("fault")]


def is_old(taken_at_ms: int) -> bool:
    """Tell whether a document has not been renewed for too long to be current."""
    return time.time() - taken_at_ms / 1000 > OLD_AFTER_SECONDS
