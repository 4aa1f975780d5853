"""Sample rows as columns, for tests of the lake."""

from __future__ import annotations

from typing import Any

from analytics import contracts as c

START_MS = 1_773_360_000_000  # 2026-03-13 00:00:00 UTC
SECOND = 1_000
MINUTE = 60_000
HOUR = 3_600_000


def sample_columns(time_ms: int, *, queues: int = 4, **changes: Any) -> dict[str, Any]:
    """Return one sweep over the queues of a group, each with a lag of 5."""
    columns: dict[str, Any] = {
        c.CLUSTER: "hangzhou",
        c.GROUP: "settlement",
        c.TOPIC: "orders",
        c.BROKER: "broker-a",
        c.QUEUE_ID: list(range(queues)),
        c.TIME: time_ms,
        c.WEIGHT: 10,
        c.MIN: 0,
        c.MAX: [105] * queues,
        c.COMMITTED: [100] * queues,
        c.EPOCH: 1,
    }
    return columns | changes
