"""The lag of the group grows: more comes in than it consumes.

This is the only judgement of it: the state "falling behind" is this finding. It should
be reported early when it is plain, and never come and go.

*It begins* when over one, two or four minutes the lag grew by more than it can appear
to while members keep up. They commit every five seconds, so a constant lag swings by
five seconds' worth of incoming messages: `CLEAR_S` is more than that. Over one minute
this takes a growth of a tenth of the incoming rate, over two a twentieth, over four a
fortieth. Both halves of the window have to grow, so that one burst is not growth, and
the lag must not have been next to nothing within it.

*It ends* when the lag has not grown over two minutes, or plainly fell within the last,
or is below half of what it takes to begin. The same swing over two minutes is far less
than the growth with which the finding began, so it does not flap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dashboard.findings.evidence import NEEDS_TIME, Evidence
from dashboard.findings.finding import Finding, Value
from dashboard.findings.memory.trail import Trail
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _

from .progress import end_of, slope
from .stalled import CAUSES

KEY: Final = "losing_ground"
LAG_FLOOR: Final = 1_000
GROWTH_FLOOR: Final = 200
"""Messages; less growth over a window is never plain."""
CLEAR_S: Final = 6.0
"""Growth over a window is plain if at least what comes in within this many seconds."""
BEGIN_MS: Final = (60_000, 120_000, 240_000)
LASTING_MS: Final = 120_000
TURNED_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class _Pace:
    """How the lag of some queues changed over a window; growth in messages a second."""

    growth: float
    halves: tuple[float, float]
    lowest: int
    rate_in: float
    rate_out: float
    span_ms: int

    @property
    def plain(self) -> float:
        """The growth or fall a second that the timing of commits cannot explain."""
        return max(GROWTH_FLOOR * 1000 / self.span_ms, self._seconds(self.rate_in))

    @property
    def grows(self) -> bool:
        """True when the lag plainly grew, all the time, and something was consumed."""
        return (
            self.growth >= self.plain
            and min(self.halves) >= self.plain / 2
            and self.lowest >= LAG_FLOOR // 10
            and self.rate_out > 0
        )

    def _seconds(self, rate: float) -> float:
        return rate * CLEAR_S * 1000 / self.span_ms


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Look at the lag of the whole group."""
    table = evidence.group.queues
    if not evidence.commits_tell or not evidence.group.members:
        return None
    if missing := evidence.needs_offsets(explained):
        return missing
    standing = KEY in evidence.standing
    floor = LAG_FLOOR // 2 if standing else LAG_FLOOR
    if table.lag.total() < floor:
        return None
    rows = [
        row
        for row, lag in enumerate(table.lag)
        if lag is not None and table.keys[row] not in explained
    ]
    if sum(table.lag.values[row] for row in rows) < floor:
        return None
    trail = evidence.trail.knowing(rows)
    lasting = _pace(trail, rows, LASTING_MS) or _pace(trail, rows, TURNED_MS)
    if lasting is None:
        return NEEDS_TIME
    if _over(lasting, _pace(trail, rows, TURNED_MS)):
        return None
    if standing:
        return _finding(evidence, trail, rows, lasting)
    paces = [_pace(trail, rows, window_ms) for window_ms in BEGIN_MS]
    plain = next((pace for pace in paces if pace is not None and pace.grows), None)
    return None if plain is None else _finding(evidence, trail, rows, plain)


def _over(lasting: _Pace, latest: _Pace | None) -> bool:
    turned = latest is not None and latest.growth <= -latest.plain
    return turned or lasting.growth <= 0 or lasting.rate_out == 0


def _pace(trail: Trail, rows: list[int], window_ms: int) -> _Pace | None:
    """Return the pace over the end of a trail; None while the window is not filled."""
    end = end_of(trail, window_ms)
    if end is None:
        return None
    times = [moment.at_ms for moment in end.moments]
    lags = [
        sum(moment.queues.lag.values[row] for row in rows) for moment in end.moments
    ]
    half = len(times) // 2
    return _Pace(
        growth=slope(times, lags),
        halves=(
            slope(times[: half + 1], lags[: half + 1]),
            slope(times[half:], lags[half:]),
        ),
        lowest=min(lags),
        rate_in=sum(end.rate("max", row) or 0.0 for row in rows),
        rate_out=sum(end.rate("committed", row) or 0.0 for row in rows),
        span_ms=end.span_ms,
    )


def _finding(evidence: Evidence, trail: Trail, rows: list[int], pace: _Pace) -> Finding:
    lag = evidence.lag_of(range(len(evidence.group.queues)))
    growth = round(pace.growth, 1)
    rates, partial = _shown_rates(evidence)
    return Finding(
        KEY,
        "warn",
        values={"lag": lag.known or 0, "growth_rate": growth},
        evidence=(
            ("lag", lag.known or 0),
            ("growth_rate", growth),
            *rates,
            ("watched_ms", pace.span_ms),
        ),
        queues=evidence.keys_of([row for row in rows if _grows(trail, row)]),
        at_least=(*lag.marks("lag", "growth_rate"), *partial),
    )


def _shown_rates(
    evidence: Evidence,
) -> tuple[list[tuple[str, Value]], list[str]]:
    """Return the rates of the group as its tiles show them, and which are partial."""
    flow = evidence.flow
    if flow is None:
        return [], []
    found = (
        ("in_rate", flow.rate_in, flow.rows_in),
        ("out_rate", flow.rate_out, flow.rows_out),
    )
    return (
        [(name, round(rate, 1)) for name, rate, _rows in found if rate is not None],
        [name for name, rate, rows in found if rate is not None and None in rows],
    )


def _grows(trail: Trail, row: int) -> bool:
    course = trail.course(row)
    times, lags = [p.at_ms for p in course], [p.lag for p in course]
    return slope(times, lags) > 0


SAYS: Final = {
    "state": _("Falling behind"),
    "title": _("The lag grows"),
    "text": _(
        "{lag} messages wait, {growth_rate} more each second: more comes in than is "
        "consumed."
    ),
    "advice": _(
        "Add members while there are queues for them, or consume faster (threads, "
        "batches). What-if shows how the queues would be divided."
    ),
}

RULE: Final = Rule(
    KEY,
    check,
    SAYS,
    yields_to=(*CAUSES, "stalled", "rewound"),
)
