"""Looks at made-up groups, with the few figures that a test cares about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dashboard.alerting.looks import BrokerLook, GroupLook
from dashboard.alerting.rules import Rule
from dashboard.live.documents import FindingState, OverviewRow
from rmqcore.model.columns import Column, QueueKey, Reason
from rmqcore.model.snapshot import QueueTable

START_MS = 1_790_000_000_000
GROUP = "billing"


def table_of(
    queues: Mapping[int, tuple[int, int | None]], broker: str = "broker-a"
) -> QueueTable:
    """Return a table of a topic: by queue id, the end and what is committed."""
    keys: tuple[QueueKey, ...] = tuple(("orders", broker, number) for number in queues)
    ends = [end for end, _committed in queues.values()]
    commits = [
        Reason.NO_ANSWER if committed is None else committed
        for _end, committed in queues.values()
    ]
    lags = [
        Reason.NO_ANSWER if committed is None else end - committed
        for end, committed in queues.values()
    ]
    nothing = Column.unknown(len(keys), Reason.NOT_ASKED)
    return QueueTable(
        keys,
        Column.of([0] * len(keys)),
        Column.of(ends),
        Column.of(commits),
        Column.of(lags),
        nothing,
        nothing,
    )


def finding(key: str = "stalled", level: Any = "crit", **fields: Any) -> FindingState:
    """Return a finding about the group's first queue."""
    return {
        "key": key,
        "level": level,
        "since": START_MS,
        "text": "text",
        "advice": "advice",
        "values": {"queues": 1, "lag": 50, "window_ms": 120_000},
        "evidence": [],
        "queues": ["orders|broker-a|0"],
        "queue_count": 1,
        "members": ["c1"],
        "member_count": 1,
        **fields,
    }  # type: ignore[typeddict-item]


def look_at(
    at_s: float = 0,
    *,
    group: str = GROUP,
    lag: int | None = 0,
    table: QueueTable | None = None,
    findings: Sequence[FindingState] = (),
    unchecked: Sequence[str] | None = (),
    dead_letters: int | None = 0,
    owners: Sequence[tuple[str, ...]] = (("c1",), ("c2",)),
    silent: tuple[str, ...] = (),
    **row: Any,
) -> GroupLook:
    """Return a look at a group some seconds after the start."""
    figures: dict[str, Any] = {
        "group": group,
        "lag": lag,
        "lag_partial": False,
        "oldest_ms": 0 if lag == 0 else None,
        "rate_in": 10.0,
        "rate_out": 10.0,
        "members": 2,
        "skew": None,
        "complete": True,
        **row,
    }
    seen: OverviewRow = figures  # type: ignore[assignment]
    rules: Any = None
    if unchecked is not None:
        rules = {
            "checked": 3,
            "unchecked": [{"key": k, "why": "members", "names": []} for k in unchecked],
            "failed": [],
        }
    waiting = lag or 0
    return GroupLook(
        at_ms=START_MS + round(at_s * 1000),
        row=seen,
        table=table or table_of({0: (waiting, 0), 1: (0, 0)}),
        owners=owners,
        rates_out=(5.0, 5.0),
        findings=findings,
        rules=rules,
        dead_letters=dead_letters,
        silent=silent,
    )


def broker_at(
    at_s: float = 0, name: str = "broker-a", condition: Any = "answered", **fields: Any
) -> BrokerLook:
    """Return a look at a broker that has been so from the start on."""
    since = None if condition == "answered" else START_MS
    return BrokerLook(START_MS + round(at_s * 1000), name, condition, since, **fields)


def rule_of(kind: str = "lag", limit: float | None = 100, **fields: Any) -> Rule:
    """Return a rule."""
    return Rule(**{"pk": 1, "name": kind, "kind": kind, "limit": limit, **fields})
