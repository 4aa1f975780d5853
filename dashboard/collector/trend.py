"""The lag of a group over the last hour, coarsely, as the list of groups draws it.

Spans of two minutes, counted from 1970, each with its peak: a short climb matters, and
would be lost in a mean. A span without a known lag has none. A pure function of state
and time; 30 numbers for each group.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

POINTS: Final = 30
STEP_MS: Final = 120_000


class LagTrend:
    """The peaks of one group, the running span last."""

    __slots__ = ("_peaks", "_span")

    def __init__(self) -> None:
        self._span: int | None = None
        self._peaks: list[int | None] = [None] * POINTS

    @classmethod
    def restored(cls, points: Sequence[int | None], at_ms: int) -> LagTrend:
        """Continue from points that ended with the span of `at_ms`."""
        trend = cls()
        trend._span = at_ms // STEP_MS
        kept = list(points)[-POINTS:]
        for at, point in enumerate(kept, POINTS - len(kept)):
            trend._peaks[at] = point
        return trend

    def add(self, at_ms: int, lag: int | None) -> None:
        """Take the lag of one look, None when the whole lag is not known."""
        self._turn(at_ms // STEP_MS)
        peak = self._peaks[-1]
        if lag is not None and (peak is None or lag > peak):
            self._peaks = _shared((*self._peaks[:-1], lag))

    def points(self) -> list[int | None]:
        """Return the peaks, oldest first; the list stays as it is."""
        return self._peaks

    def _turn(self, span: int) -> None:
        passed = POINTS if self._span is None else min(POINTS, span - self._span)
        if passed > 0:
            self._span = span
            self._peaks = _shared((*self._peaks[passed:], *(None,) * passed))


@lru_cache(maxsize=1024)
def _shared(peaks: tuple[int | None, ...]) -> list[int | None]:
    """Return peaks as a list; groups whose lag was alike share it."""
    return list(peaks)
