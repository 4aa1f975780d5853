"""The lag of each queue of a group over the last 15 minutes, a point each 30 seconds.

A point is the first look of its 30 seconds, and is kept as the column that the look
made: nothing is copied, and a group whose lag stands still keeps one column for all
points. The next leader continues the lines from the group's document or, without one,
from the sweeps of the last five minutes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from dashboard.live.documents import QueueTrend
from rmqcore.model.columns import Column, QueueKey, Reason
from rmqcore.model.snapshot import QueueTable

STEP_MS: Final = 30_000
POINTS: Final = 30
MOST_QUEUES: Final = 2_000
"""With more queues there are no lines: a document would hold too many numbers."""


class QueueTrends:
    """The points of one group, oldest first."""

    __slots__ = ("_at", "_keys", "_lags", "_made")

    def __init__(self) -> None:
        self._keys: tuple[QueueKey, ...] = ()
        # Lists: a deque takes 760 bytes, however few points it holds.
        self._at: list[int] = []
        self._lags: list[Column] = []
        self._made: tuple[int, QueueTrend] | None = None
        """The number of points left out as too old, and the document of the rest."""

    @classmethod
    def restored(
        cls, shown: QueueTrend | None, moments: Iterable[tuple[int, QueueTable]]
    ) -> QueueTrends:
        """Continue from a document's points and from later sweeps, in order."""
        trends = cls()
        if shown is not None:
            trends._keys = tuple(_key(text) for text in shown["lag"])
            for at, *lags in zip(shown["at"], *shown["lag"].values(), strict=True):
                trends._keep(at, _column(lags))
        for at, table in moments:
            trends.add(at, table)
        return trends

    def add(self, at_ms: int, table: QueueTable) -> None:
        """Take a look, unless its 30 seconds have a point already."""
        if self._at and at_ms // STEP_MS <= self._at[-1] // STEP_MS:
            return
        if table.keys != self._keys:
            self._turn(table.keys)
        same = bool(self._lags) and self._lags[-1] == table.lag
        self._keep(at_ms, self._lags[-1] if same else table.lag)
        self._made = None

    def _keep(self, at_ms: int, lag: Column) -> None:
        """Add a point; the oldest beyond the limit goes."""
        self._at.append(at_ms)
        self._lags.append(lag)
        del self._at[:-POINTS], self._lags[:-POINTS]

    def document(self, now_ms: int) -> QueueTrend | None:
        """Return the points of the last 15 minutes; None without any."""
        since = now_ms - POINTS * STEP_MS
        first = next((n for n, at in enumerate(self._at) if at > since), None)
        if first is None or not 0 < len(self._keys) <= MOST_QUEUES:
            return None
        if self._made is None or self._made[0] != first:
            self._made = first, self._document(first)
        return self._made[1]

    def _document(self, first: int) -> QueueTrend:
        kept = [list(column) for column in self._lags][first:]
        rows = zip(*kept, strict=True)
        return {
            "at": self._at[first:],
            "lag": {
                f"{topic}|{broker}|{number}": list(row)
                for (topic, broker, number), row in zip(self._keys, rows, strict=True)
            },
        }

    def _turn(self, keys: tuple[QueueKey, ...]) -> None:
        """Bring earlier points into the order of other queues."""
        place: Mapping[QueueKey, int] = {key: n for n, key in enumerate(self._keys)}
        self._lags = [
            _column(
                None if (row := place.get(key)) is None else column[row] for key in keys
            )
            for column in self._lags
        ]
        self._keys = keys


def _column(lags: Iterable[int | None]) -> Column:
    return Column.of(Reason.NOT_ASKED if lag is None else lag for lag in lags)


def _key(text: str) -> QueueKey:
    topic, broker, number = text.rsplit("|", 2)
    return topic, broker, int(number)
