"""The progress of queues over the last minutes, for the rules about progress.

The rules follow Burrow's (stopped before rewound before stalled before losing), over a
window of time instead of one of commits, and with floors: a few messages are never an
alarm, however bad their ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import lt
from typing import Final

from dashboard.findings.evidence import NEEDS_TIME, Evidence, Unchecked
from dashboard.findings.memory.trail import Trail
from dashboard.findings.rule import Queues
from rmqcore.model.snapshot import QueueTable

LAG_FLOOR: Final = 100
"""Messages of one queue; a smaller lag is not judged."""
WINDOW_MS: Final = 120_000
FEWEST_POINTS: Final = 4


def window_of(evidence: Evidence, window_ms: int = WINDOW_MS) -> Trail | None:
    """Return the end of the trail; None while the window is not filled."""
    return end_of(evidence.trail, window_ms)


def end_of(trail: Trail, window_ms: int) -> Trail | None:
    """Return the end of a trail; None if it is too short or has too few moments."""
    end = trail.last(window_ms)
    return None if end is None or len(end.moments) < FEWEST_POINTS else end


def lagging(evidence: Evidence, explained: Queues, trail: Trail) -> list[int]:
    """Return the rows with lag that are known throughout and not explained."""
    table = evidence.group.queues
    lags = table.lag.values
    return [
        row
        for row in trail.known_rows()
        if lags[row] >= LAG_FLOOR and table.keys[row] not in explained
    ]


def needs_past(trail: Trail, evidence: Evidence) -> Unchecked | None:
    """Report that rows which lag now were not known throughout the trail."""
    known = set(trail.known_rows())
    lags = evidence.group.queues.lag.values
    missing = any(lag >= LAG_FLOOR and row not in known for row, lag in enumerate(lags))
    return NEEDS_TIME if missing else None


def lags(evidence: Evidence) -> bool:
    """Tell whether any queue has lag worth judging; most have not."""
    return max(evidence.group.queues.lag.values, default=0) >= LAG_FLOOR


def finds_nothing(table: QueueTable) -> bool:
    """Tell whether no rule finds anything in these offsets, however they last.

    All are known, and so little waits that no rule judges it. This does not hold for
    broadcasting groups, of which offsets alone are a finding.
    """
    low, done, lag = table.min, table.committed, table.lag
    return (
        lag.complete
        and low.complete
        and done.complete
        and table.max.complete
        and lag.total() < LAG_FLOOR
        and not any(map(lt, done.values, low.values))
    )


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
