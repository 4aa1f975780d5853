"""How queues fared over the last minutes, for the rules about progress.

The rules follow Burrow's (stopped before rewound before stalled before losing), over a
window of time instead of one of commits, and with floors: a few messages are never an
alarm, however bad their ratio.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.memory.trail import Point, Trail
from dashboard.findings.rule import Queues

LAG_FLOOR: Final = 100
"""Messages of one queue; a smaller lag is not judged."""
WINDOW_MS: Final = 120_000
FEWEST_POINTS: Final = 4


def lagging(
    evidence: Evidence, explained: Queues, window_ms: int = WINDOW_MS
) -> Iterator[tuple[int, list[Point]]]:
    """Yield (row, course) of queues with lag whose whole course is known.

    Nothing while the window is not filled: a young trail says nothing yet.
    """
    table = evidence.group.queues
    if max(table.lag.values, default=0) < LAG_FLOOR:
        return
    trail = evidence.trail.last(window_ms)
    if trail is None or len(trail.moments) < FEWEST_POINTS:
        return
    for row, lag in enumerate(table.lag):
        if lag is None or lag < LAG_FLOOR or table.keys[row] in explained:
            continue
        course = trail.course(row)
        if course is not None:
            yield row, course


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
    return [
        sum(moment.queues.lag.values[row] for row in rows) for moment in trail.moments
    ]
