"""The last minutes of a group's offsets: a window of time, not of commits.

Rules about progress need to see a group over time. Moments lie some seconds apart and
are kept for five minutes; columns are shared with the snapshots, so that a group whose
offsets stand still costs nothing but the moments themselves. A broker that did not
answer leaves rows unknown: such a row has no course in that window.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rmqcore.model.columns import Column
from rmqcore.model.snapshot import QueueTable

APART_MS: Final = 9_000
KEPT_MS: Final = 300_000


@dataclass(frozen=True, slots=True)
class Moment:
    """A group's offsets at one time; `sent_back` is all that came to its retry topic.

    Unknown is None.
    """

    at_ms: int
    queues: QueueTable
    sent_back: int | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One queue at one moment, all known."""

    at_ms: int
    committed: int
    lag: int


class Trail:
    """Moments with equal queues, oldest first; the newest is now."""

    __slots__ = ("moments",)

    def __init__(self, moments: Sequence[Moment]) -> None:
        self.moments = tuple(moments)

    @property
    def span_ms(self) -> int:
        """The time between the first moment and the last."""
        if not self.moments:
            return 0
        return self.moments[-1].at_ms - self.moments[0].at_ms

    def last(self, span_ms: int) -> Trail | None:
        """Return the end of the trail that covers `span_ms`; None if it is shorter."""
        if self.span_ms < span_ms:
            return None
        begin = self.moments[-1].at_ms - span_ms
        inside = [moment for moment in self.moments if moment.at_ms > begin]
        before = len(self.moments) - len(inside) - 1
        return Trail([self.moments[before], *inside])

    def course(self, row: int) -> list[Point] | None:
        """Return one queue's course; None where some value of it is unknown."""
        points = []
        for moment in self.moments:
            committed, lag = moment.queues.committed[row], moment.queues.lag[row]
            if committed is None or lag is None:
                return None
            points.append(Point(moment.at_ms, committed, lag))
        return points

    def rate(self, name: str, row: int) -> float | None:
        """Return a column's growth of one row in units a second, None if unknown."""
        if self.span_ms <= 0:
            return None
        first, last = (
            _column(moment, name)[row] for moment in (self.moments[0], self.moments[-1])
        )
        if first is None or last is None or last < first:
            return None
        return (last - first) * 1000 / self.span_ms


class TrailKeeper:
    """Keeps the moments of one group."""

    __slots__ = ("_moments",)

    def __init__(self) -> None:
        self._moments: deque[Moment] = deque()

    def take(self, moment: Moment) -> Trail:
        """Take the newest moment, which is always part of the trail returned.

        A moment soon after the one before gives way to the next.
        """
        moments = self._moments
        if len(moments) > 1 and moments[-1].at_ms - moments[-2].at_ms < APART_MS:
            moments.pop()
        moments.append(moment)
        while moment.at_ms - moments[0].at_ms > KEPT_MS:
            moments.popleft()
        keys = moment.queues.keys
        if moments[0].queues.keys is keys or moments[0].queues.keys == keys:
            return Trail(moments)
        return Trail([each for each in moments if each.queues.keys == keys])


def _column(moment: Moment, name: str) -> Column:
    column: Column = getattr(moment.queues, name)
    return column
