"""Whether a condition has held for long enough: one state machine for now and the past.

A condition is read again and again: it holds, it is clear, it is between the two (above
the limit for closing, below the one for opening), or it is not known. It *fires* once
it has held for some time, and is over once it has been clear for some time. Time in
which it was not known counts for neither: data that is missing neither fires nor
clears.

The alerts of running clusters and the trial of a rule on stored samples use this same
module, so a trial says what would have happened.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, Literal

GAP_MS: Final = 60_000
"""Two readings that are further apart leave the time between them not known."""


class Reading(Enum):
    """What a condition was found to be."""

    HOLDS = "holds"
    BETWEEN = "between"
    CLEAR = "clear"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit for a value, and a second one for closing (hysteresis).

    A value above `limit` holds, or below it if `below`; it is clear once it is back
    within `clear_limit`, which is `limit` if it is None. Raises ValueError if
    `clear_limit` is on the wrong side.
    """

    limit: float
    clear_limit: float | None = None
    below: bool = False

    def __post_init__(self) -> None:
        other = self.clear_limit
        if other is None:
            return
        if other < self.limit if self.below else other > self.limit:
            side = "at least" if self.below else "at most"
            raise ValueError(
                f"the limit for closing is {other:g}, and must be {side} {self.limit:g}"
            )

    def read(self, value: float | None, *, partial: bool = False) -> Reading:
        """Return what a value means; `partial` says that the true value may be more.

        A part that passes the limit tells enough, as the whole passes it, too.
        """
        if value is None:
            return Reading.UNKNOWN
        clear = self.limit if self.clear_limit is None else self.clear_limit
        if self.below:
            if partial and value < clear:
                return Reading.UNKNOWN
            holds, is_clear = value < self.limit, value >= clear
        else:
            holds, is_clear = value > self.limit, value <= clear
            if partial and not holds:
                return Reading.UNKNOWN
        if holds:
            return Reading.HOLDS
        return Reading.CLEAR if is_clear else Reading.BETWEEN


State = Literal["quiet", "pending", "firing", "clearing"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a condition stands; times are milliseconds since the epoch.

    `since_ms` is when the time that counts began: for `pending` that in which it held,
    for `clearing` that in which it was clear; time that was not known is added to it.
    `began_ms` is when the condition that fires, or may soon, was first seen to hold.
    `unknown_ms` is since when it has not been known, None while it is.
    """

    state: State = "quiet"
    since_ms: int = 0
    began_ms: int = 0
    read_ms: int = 0
    unknown_ms: int | None = None

    @property
    def fires(self) -> bool:
        """Whether an alert is open for it."""
        return self.state in {"firing", "clearing"}


QUIET: Final = Standing()


def step(
    standing: Standing,
    reading: Reading,
    at_ms: int,
    *,
    hold_ms: int,
    clear_ms: int,
    gap_ms: int = GAP_MS,
) -> Standing:
    """Return how a condition stands after one more reading.

    A reading that is not newer than the last changes nothing. `gap_ms` is for readings
    that are further apart by nature, as steps of an hour are.
    """
    if standing.read_ms and at_ms <= standing.read_ms:
        return standing
    if reading is Reading.UNKNOWN:
        return _not_known(standing, at_ms)
    standing = _resumed(standing, at_ms, gap_ms)
    if standing.fires:
        return _while_firing(standing, reading, at_ms, clear_ms)
    if reading is not Reading.HOLDS:
        return replace(QUIET, read_ms=at_ms)
    if standing.state == "quiet":
        standing = replace(standing, state="pending", since_ms=at_ms, began_ms=at_ms)
    held_ms = at_ms - standing.since_ms
    state: State = "firing" if held_ms >= hold_ms else "pending"
    return replace(standing, state=state, read_ms=at_ms)


def _while_firing(
    standing: Standing, reading: Reading, at_ms: int, clear_ms: int
) -> Standing:
    if reading is not Reading.CLEAR:
        return replace(standing, state="firing", read_ms=at_ms)
    if standing.state == "firing":
        standing = replace(standing, state="clearing", since_ms=at_ms)
    if at_ms - standing.since_ms >= clear_ms:
        return replace(QUIET, read_ms=at_ms)
    return replace(standing, read_ms=at_ms)


def _not_known(standing: Standing, at_ms: int) -> Standing:
    if standing.unknown_ms is not None:
        return replace(standing, read_ms=at_ms)
    since_ms = standing.read_ms if standing.read_ms else at_ms
    return replace(standing, read_ms=at_ms, unknown_ms=since_ms)


def _resumed(standing: Standing, at_ms: int, gap_ms: int) -> Standing:
    """Leave out the time in which nothing was known, or nothing was read."""
    known_ms = standing.read_ms if standing.unknown_ms is None else standing.unknown_ms
    lost_ms = at_ms - known_ms
    if standing.unknown_ms is None and lost_ms <= gap_ms:
        return standing
    return replace(standing, unknown_ms=None, since_ms=standing.since_ms + lost_ms)
