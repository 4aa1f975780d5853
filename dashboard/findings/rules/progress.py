"""How queues fared over the last minutes, for the rules about progress.

The rules follow Burrow's (stopped before rewound before stalled before losing), over a
window of time instead of one of commits, and with floors: a few messages are never an
alarm, however bad their ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.memory.trail import Trail
from dashboard.findings.rule import Queues

LAG_FLOOR: Final = 100
"""Messages of one queue; a smaller lag is not judged."""
WINDOW_MS: Final = 120_000
FEWEST_POINTS: Final = 4


def window_of(evidence: Evidence, window_ms: int = WINDOW_MS) -> Trail | None:
    """Return the end of the trail; None while the window is not filled."""
    trail = evidence.trail.last(window_ms)
    if trail is None or len(trail.moments) < FEWEST_POINTS:
        return None
    return trail


def lagging(evidence: Evidence, explained: Queues, trail: Trail) -> list[int]:
    """Return the rows with lag that are known throughout and not explained."""
    table = evidence.group.queues
    lags = table.lag.values
    return [
        row
        for row in trail.known_rows()
        if lags[row] >= LAG_FLOOR and table.keys[row] not in explained
    ]


def lags(evidence: Evidence) -> bool:
    """Say whether any queue has lag worth judging; most have not."""
    return max(evidence.group.queues.lag.values, default=0) >= LAG_FLOOR


def slope(times_ms: Sequence[int], values: Sequence[float]) -> float:
    """Return the least-squares growth of values, in units a second."""
    count = len(values)
    if count < 2:
        return 0.0
    mean_time, mean_value = sum(times_ms) / count, sum(values) / count
    spread = sum((time - mean_time) ** 2 for time in times_ms)
    if not spread:
        return 0.0
    together = sum(
        (time - mean_time) * (value - mean_value)
        for time, value in zip(times_ms, values, strict=True)
    )
    return together / spread * 1000


def group_lag(trail: Trail, rows: Sequence[int]) -> list[int]:
    """Return the lag of some rows together at each moment; unknown counts as none."""
    columns = [moment.queues.lag for moment in trail.moments]
    if columns and len(rows) == len(columns[0]):
        return [column.total() for column in columns]
    return [sum(column.values[row] for row in rows) for column in columns]
