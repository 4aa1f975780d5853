"""The last minutes of a group's offsets: a window of time, not of commits.

Rules about progress need to see a group over time. Moments lie some seconds apart and
are kept for five minutes; columns are shared with the snapshots, so that a group whose
offsets stand still costs nothing but the moments themselves. A broker that did not
answer leaves rows unknown: such rows have no course in that window.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

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


class Point(NamedTuple):
    """One queue at one moment."""

    at_ms: int
    committed: int
    lag: int


class Trail:
    """Moments with equal queues, oldest first; the newest is now.

    Moments with other queues than the newest are left out, so that a row is the same
    queue at each moment.
    """

    __slots__ = ("moments",)

    def __init__(self, moments: Sequence[Moment]) -> None:
        keys = moments[-1].queues.keys if moments else ()
        self.moments = tuple(
            moment
            for moment in moments
            if moment.queues.keys is keys or moment.queues.keys == keys
        )

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

    def knowing(self, rows: Sequence[int]) -> Trail:
        """Return the moments at which lag and commit of all these rows are known."""
        return Trail([each for each in self.moments if _knows(each.queues, rows)])

    def known_rows(self) -> list[int]:
        """Return the rows whose commit and lag are known at every moment."""
        tables = [moment.queues for moment in self.moments]
        if not tables:
            return []
        rows = range(len(tables[0]))
        reasons = {
            column.reasons
            for table in tables
            for column in (table.committed, table.lag)
            if column.reasons
        }
        return [row for row in rows if not any(unknown[row] for unknown in reasons)]

    def committed(self, row: int) -> list[int]:
        """Return the commits of a row that is known at every moment."""
        return [moment.queues.committed.values[row] for moment in self.moments]

    def course(self, row: int) -> list[Point]:
        """Return the course of a queue whose row is known at every moment."""
        return [
            Point(
                moment.at_ms,
                moment.queues.committed.values[row],
                moment.queues.lag.values[row],
            )
            for moment in self.moments
        ]

    def rate(self, name: str, row: int) -> float | None:
        """Return one row's growth in a column, in units a second; None if unknown."""
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

    def __init__(self, earlier: Iterable[Moment] = ()) -> None:
        """Begin with the moments that another collector saw, oldest first."""
        # A list: a deque takes 760 bytes, however few moments it holds.
        self._moments: list[Moment] = list(earlier)

    @property
    def retries_rest(self) -> bool:
        """Whether nothing came to the retry topic within the time that is kept."""
        moments = self._moments
        return (
            len(moments) > 0
            and moments[0].sent_back is not None
            and all(each.sent_back == moments[0].sent_back for each in moments)
        )

    def take(self, moment: Moment) -> Trail:
        """Take the newest moment, which is always part of the trail returned."""
        self.add(moment)
        return Trail(self._moments)

    def add(self, moment: Moment) -> None:
        """Take the newest moment; one soon after the previous gives way to the next."""
        moments = self._moments
        if len(moments) > 1 and moments[-1].at_ms - moments[-2].at_ms < APART_MS:
            moments.pop()
        moments.append(moment)
        while moment.at_ms - moments[0].at_ms > KEPT_MS:
            del moments[0]


def _knows(table: QueueTable, rows: Sequence[int]) -> bool:
    return not any(
        column.reasons and any(column.reasons[row] for row in rows)
        for column in (table.committed, table.lag)
    )


def _column(moment: Moment, name: str) -> Column:
    column: Column = getattr(moment.queues, name)
    return column
