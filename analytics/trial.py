"""What a rule for alerts would have done over the values of one group. No Spark here.

`play` feeds the values to the state machine of `analytics.holding`, which also decides
about alerts while they happen, so that both agree about what holds for long enough and
about time that was not measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

from analytics.errors import JobError
from analytics.holding import GAP_MS, QUIET, Reading, Standing, Threshold, step

LAG: Final = "lag"
OLDEST: Final = "oldest"
DRAIN: Final = "drain"
IN_STOPS: Final = "in_stops"
OUT_STOPS: Final = "out_stops"
SKEW: Final = "skew"
MEMBERS: Final = "members"

KINDS: Final = (LAG, OLDEST, DRAIN, IN_STOPS, OUT_STOPS, SKEW, MEMBERS)
STOPS: Final = frozenset({IN_STOPS, OUT_STOPS})
BELOW: Final = STOPS | {MEMBERS}
"""Kinds that hold while a value is below the limit."""
OF_RATES: Final = STOPS | {DRAIN}
NOT_IN_LAKE: Final = ("finding", "dead_letters", "broker")
"""Kinds of rules about what samples do not tell."""

MOST_LIMIT: Final = 1e15
MOST_HOLD_MS: Final = 7 * 24 * 3_600_000
BUCKETS: Final = 600
"""Points of a chart, at most."""
MOST_OPENINGS: Final = 100
MOST_SPANS: Final = 100
"""Of one group; beyond these there are only counts."""

_OTHER_LIMITS: Final = (0.67, 1.5)
_ABOVE_NOTHING: Final = math.ulp(0.0)


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition, and for how long it has to hold, or be clear for closing.

    The limit counts messages for `lag`, milliseconds for `oldest` and `drain`, members
    for `members`, and is a ratio for `skew`. For `in_stops` and `out_stops` it is how
    long (ms) the rate has to be 0, before the time to hold begins. Raises `JobError`
    for what cannot be tried, and says why.
    """

    kind: str
    limit: float = 0.0
    clear_limit: float | None = None
    hold_ms: int = 0
    clear_ms: int = 0

    def __post_init__(self) -> None:
        if self.kind in NOT_IN_LAKE:
            raise JobError(
                f"a rule of kind {self.kind!r} cannot be tried: the lake has samples "
                f"of queues and epochs of groups, which answer {', '.join(KINDS)}"
            )
        if self.kind not in KINDS:
            raise JobError(
                f"unknown kind of rule {self.kind!r}; the lake can answer "
                f"{', '.join(KINDS)}"
            )
        for name in ("limit", "clear_limit"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= MOST_LIMIT:
                raise JobError(f"{name} is {value:g}, and must be 0 to {MOST_LIMIT:g}")
        if self.kind == MEMBERS and self.limit < 1:
            raise JobError(
                f"limit is {self.limit:g}: no group has fewer than 0 members"
            )
        for name in ("hold_ms", "clear_ms"):
            value = getattr(self, name)
            if not 0 <= value <= MOST_HOLD_MS:
                raise JobError(f"{name} is {value}, and must be 0 to {MOST_HOLD_MS}")
        try:
            _ = self.threshold
        except ValueError as error:
            raise JobError(str(error)) from error

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Rule:
        """Read a rule; raises `JobError` for members that are unknown or missing."""
        unknown = sorted(set(document) - {each.name for each in fields(cls)})
        if unknown:
            raise JobError(f"a rule has no member {', '.join(unknown)}")
        try:
            return cls(**document)
        except TypeError as error:
            raise JobError(f"not a rule: {error}") from error

    @property
    def below(self) -> bool:
        """Whether it holds while the value is below the limit."""
        return self.kind in BELOW

    @property
    def held_ms(self) -> int:
        """For how long it has to be seen to hold."""
        return self.hold_ms + (round(self.limit) if self.kind in STOPS else 0)

    @property
    def threshold(self) -> Threshold:
        """The limits, as the state machine takes them."""
        return self._threshold(self.limit, self.clear_limit)

    def alternatives(self) -> dict[float, Threshold]:
        """Return other limits that may be worth a look, and their thresholds."""
        if self.kind in STOPS:
            return {}
        if self.kind == MEMBERS:
            others = [self.limit - 1, self.limit + 1]
        else:
            others = [_rounded(self.limit * part) for part in _OTHER_LIMITS]
        found = {}
        for other in others:
            if other <= 0 or other == self.limit:
                continue
            clear = self.clear_limit
            if clear is not None and self.kind == MEMBERS:
                clear += other - self.limit
            elif clear is not None:
                clear *= other / self.limit
            found[other] = self._threshold(other, clear)
        return found

    def _threshold(self, limit: float, clear: float | None) -> Threshold:
        if self.kind in STOPS:
            return Threshold(_ABOVE_NOTHING, below=True)
        return Threshold(limit, clear, below=self.below)


@dataclass(frozen=True, slots=True)
class Opening:
    """A time at which the rule would have fired; `closed_ms` is None if it still does.

    `peak` is the worst value from `began_ms` on. `known` tells whether the values at
    the end were known.
    """

    began_ms: int
    opened_ms: int
    closed_ms: int | None
    peak: float
    known: bool


@dataclass(frozen=True, slots=True)
class Played:
    """What a rule would have done; spans are [from, to) in ms."""

    count: int
    open_ms: int
    unknown_ms: int
    still_open: bool
    openings: list[Opening] = field(default_factory=list)
    unknown: list[tuple[int, int]] = field(default_factory=list)
    unknown_count: int = 0


@dataclass(frozen=True, slots=True)
class Values:
    """The values of one group in steps of equal length, in order of time.

    `at_ms` is the end of each step, at which its value was read. A value is None where
    it was not measured, and may be better than the truth where it is `partial`.
    """

    at_ms: Sequence[int]
    value: Sequence[float | None]
    partial: Sequence[bool]
    step_ms: int

    @property
    def gap_ms(self) -> int:
        """Steps that follow each other leave no time unknown between them."""
        return max(GAP_MS, self.step_ms)

    def read(self, threshold: Threshold) -> list[Reading]:
        """Return what each value means for a threshold."""
        pairs = zip(self.value, self.partial, strict=True)
        return [threshold.read(value, partial=part) for value, part in pairs]


def play(values: Values, rule: Rule, threshold: Threshold | None = None) -> Played:
    """Return what a rule would have done, at its own threshold or at another."""
    threshold = threshold or rule.threshold
    readings = values.read(threshold)
    worst = min if rule.below else max
    standing: Standing = QUIET
    openings: list[Opening] = []
    count = open_ms = 0
    peak: float | None = None
    for at_ms, value, reading in zip(values.at_ms, values.value, readings, strict=True):
        if standing.state == "quiet" and reading is not Reading.HOLDS:
            continue  # it stays quiet: most steps are like this, and there are many
        before = standing
        standing = step(
            before,
            reading,
            at_ms,
            hold_ms=rule.held_ms,
            clear_ms=rule.clear_ms,
            gap_ms=values.gap_ms,
        )
        if standing.state != "quiet" and value is not None:
            peak = value if peak is None else worst(peak, value)
        if standing.fires and not before.fires:
            count += 1
            opened_ms = at_ms
        if before.fires and not standing.fires:
            open_ms += at_ms - opened_ms
            _add(openings, before, opened_ms, at_ms, peak)
        if standing.state == "quiet":
            peak = None
    if standing.fires:
        open_ms += values.at_ms[-1] - opened_ms
        _add(openings, standing, opened_ms, None, peak)
    spans = unknown_spans(values, readings)
    return Played(
        count=count,
        open_ms=open_ms,
        unknown_ms=sum(end - begin for begin, end in spans),
        still_open=standing.fires,
        openings=openings,
        unknown=spans[:MOST_SPANS],
        unknown_count=len(spans),
    )


def _add(
    openings: list[Opening],
    standing: Standing,
    opened_ms: int,
    closed_ms: int | None,
    peak: float | None,
) -> None:
    if len(openings) < MOST_OPENINGS and peak is not None:
        known = closed_ms is not None or standing.unknown_ms is None
        openings.append(Opening(standing.began_ms, opened_ms, closed_ms, peak, known))


def unknown_spans(values: Values, readings: Iterable[Reading]) -> list[tuple[int, int]]:
    """Return the time that tells nothing, merged: steps not known, and steps left out.

    Before a group's first step and after its last there was no such group.
    """
    spans: list[tuple[int, int]] = []
    expected: int | None = None
    for at_ms, reading in zip(values.at_ms, readings, strict=True):
        begin = at_ms - (at_ms % values.step_ms or values.step_ms)  # the last is short
        if expected is not None and expected < begin:
            _extend(spans, expected, begin)
        if reading is Reading.UNKNOWN:
            _extend(spans, begin, at_ms)
        expected = at_ms
    return spans


def _extend(spans: list[tuple[int, int]], begin: int, end: int) -> None:
    if spans and spans[-1][1] >= begin:
        spans[-1] = (spans[-1][0], end)
    else:
        spans.append((begin, end))


MEASURED: Final = "."
NOT_MEASURED: Final = "?"
ENDLESS: Final = "^"


def series(values: Values, rule: Rule, since_ms: int, until_ms: int) -> dict[str, Any]:
    """Return the worst value of each of at most `BUCKETS` spans of equal length.

    `marks` has a character for each: `ENDLESS` where the worst value is infinite, and
    `NOT_MEASURED` where there is none, both with None in place of the value.
    """
    steps = max(1, -(-(until_ms - since_ms) // values.step_ms))
    bucket_ms = -(-steps // BUCKETS) * values.step_ms
    found: list[float | None] = [None] * -(-steps * values.step_ms // bucket_ms)
    worst = min if rule.below else max
    for at_ms, value in zip(values.at_ms, values.value, strict=True):
        place = (at_ms - 1 - since_ms) // bucket_ms
        if value is None or not 0 <= place < len(found):
            continue
        present = found[place]
        found[place] = value if present is None else worst(present, value)
    return {
        "since_ms": since_ms,
        "bucket_ms": bucket_ms,
        "values": [plain(value) for value in found],
        "marks": "".join(map(_mark, found)),
    }


def _mark(value: float | None) -> str:
    if value is None:
        return NOT_MEASURED
    return MEASURED if math.isfinite(value) else ENDLESS


def plain(value: float | None) -> float | None:
    """Return a value for JSON, which knows no infinity."""
    if value is None or not math.isfinite(value):
        return None
    return round(value, 3)


def opening_document(group: str, opening: Opening) -> dict[str, Any]:
    """Return an opening for JSON; a peak without end is None and `endless`."""
    return {
        "group": group,
        **asdict(opening),
        "peak": plain(opening.peak),
        "endless": math.isinf(opening.peak),
    }


def _rounded(value: float) -> float:
    """Round to two digits, as people write limits."""
    if value <= 0:
        return 0.0
    digits = 1 - math.floor(math.log10(value))
    return float(round(value, digits))
