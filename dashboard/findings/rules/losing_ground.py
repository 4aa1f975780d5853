"""The group commits, but its lag grows: more comes in than it consumes.

Judged by the slope of the lag over two minutes, so that the steps of commits every five
seconds do not count, and over the second half alone as well, so that a burst which is
being worked off is not called a loss.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.memory.trail import Trail
from dashboard.findings.rule import Queues, Rule

from .progress import group_lag, slope, window_of
from .stalled import CAUSES

KEY: Final = "losing_ground"
LAG_FLOOR: Final = 1_000
GROWTH_FLOOR: Final = 500
"""Messages by which the lag must have grown over the window."""
RATE_FLOOR: Final = 1.0
RATE_MARGIN: Final = 0.05


def check(evidence: Evidence, explained: Queues) -> Finding | None:
    """Look at the lag of the whole group, as far as it is known throughout."""
    table = evidence.group.queues
    if not evidence.commits_tell or not evidence.group.members:
        return None
    if table.lag.total() < LAG_FLOOR:
        return None
    trail = window_of(evidence)
    if trail is None:
        return None
    rows = [row for row in trail.known_rows() if table.keys[row] not in explained]
    growth = _growth(trail, rows)
    if growth <= RATE_FLOOR:
        return None
    rate_in = sum(trail.rate("max", row) or 0.0 for row in rows)
    rate_out = sum(trail.rate("committed", row) or 0.0 for row in rows)
    if not rate_out or growth <= rate_in * RATE_MARGIN:
        return None
    lag = sum(table.lag[row] or 0 for row in rows)
    seconds = trail.span_ms / 1000
    if lag < LAG_FLOOR or growth * seconds < GROWTH_FLOOR:
        return None
    return Finding(
        KEY,
        "warn",
        values={"lag": lag, "growth_rate": round(growth, 1)},
        evidence=(
            ("lag", lag),
            ("growth_rate", round(growth, 1)),
            ("in_rate", round(rate_in, 1)),
            ("out_rate", round(rate_out, 1)),
            ("watched_ms", trail.span_ms),
        ),
        queues=evidence.keys_of([row for row in rows if _grows(trail, row)]),
    )


def _growth(trail: Trail, rows: list[int]) -> float:
    """Return the smaller slope of the whole window and of its second half."""
    times = [moment.at_ms for moment in trail.moments]
    lags = group_lag(trail, rows)
    if not lags or min(lags) < LAG_FLOOR // 10:
        return 0.0
    half = len(times) // 2
    return min(slope(times, lags), slope(times[half:], lags[half:]))


def _grows(trail: Trail, row: int) -> bool:
    course = trail.course(row)
    times, lags = [p.at_ms for p in course], [p.lag for p in course]
    return slope(times, lags) > 0


RULE: Final = Rule(
    KEY,
    check,
    yields_to=(*CAUSES, "stalled", "rewound"),
)
