"""Since when a group's offsets have stood still, and how many dead letters came.

Some rules are about time in which nothing moved. An offset counts as still from the
look that first showed its value, so that the time is never overstated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import QueueTable

LETTERS_KEPT_MS: Final = 24 * 3600 * 1000
"""The longest span in which dead letters are counted."""
MOST_POINTS: Final = 720
"""When there are more points of dead letters, every second old one is left out."""


_Commit = tuple[int, int, bool]
"""What is committed, since when, and whether the beginning of that time was seen."""


class Movement:
    """The memory of one group."""

    __slots__ = (
        "_arrived",
        "_commits",
        "_empty",
        "_letters",
        "_letters_known",
        "_loose",
        "_still",
        "_unseen",
    )

    def __init__(self, dumped: Mapping[str, Any] | None = None) -> None:
        """Begin anew, or with what `dump` returned."""
        dumped = dumped or {}
        self._commits: dict[QueueKey, _Commit] = {
            (topic, broker, number): (committed, since_ms, moved)
            for topic, broker, number, committed, since_ms, moved in dumped.get(
                "commits", ()
            )
        }
        arrived = dumped.get("arrived")
        self._arrived: tuple[int, int, bool] | None = (
            tuple(arrived) if arrived else None
        )
        self._letters: list[tuple[int, int]] = [
            (at_ms, total) for at_ms, total in dumped.get("letters", ())
        ]
        self._letters_known = False
        self._still: dict[QueueKey, int] = {}
        self._empty: Sequence[QueueKey] = ()
        self._loose = False
        self._unseen = False

    def dump(self) -> dict[str, Any]:
        """Return the memory as plain values; only queues that wait are in it."""
        return {
            "commits": [[*key, *self._commits[key]] for key in self._still],
            "arrived": self._arrived,
            "letters": self._letters,
        }

    def take_commits(self, table: QueueTable, at_ms: int) -> None:
        """Note which queues have messages waiting, and since when nothing moved."""
        if table.lag.complete and not any(table.lag.values):
            self._commits, self._still, self._empty = {}, {}, table.keys
            self._loose = self._unseen = False
            return
        was_empty = frozenset(self._empty)
        commits: dict[QueueKey, _Commit] = {}
        still: dict[QueueKey, int] = {}
        empty: list[QueueKey] = []
        self._loose = self._unseen = False
        for row, key in enumerate(table.keys):
            waiting, committed = table.waiting(row), table.committed[row]
            if waiting is None or committed is None:
                self._loose = self._loose or waiting is None
                if key in self._commits:
                    commits[key] = self._commits[key]
                continue
            if not waiting:
                empty.append(key)
                continue
            before = self._commits.get(key)
            if before is not None and before[0] == committed:
                _committed, since_ms, moved = before
            else:
                since_ms = at_ms
                moved = before is not None or key in was_empty
            commits[key] = committed, since_ms, moved
            still[key] = at_ms - since_ms
            self._unseen = self._unseen or not moved
        self._commits, self._still, self._empty = commits, still, empty

    @property
    def still(self) -> Mapping[QueueKey, int]:
        """By queue with messages waiting: for how long (ms) nothing was committed."""
        return self._still

    @property
    def unseen(self) -> bool:
        """Whether some queue may have stood still before it was first looked at."""
        return self._unseen

    @property
    def loose(self) -> bool:
        """Whether the lag of some queue is not known."""
        return self._loose

    def take_arrivals(self, table: QueueTable, at_ms: int) -> int | None:
        """Return for how long (ms) no message has arrived; None if that is not known.

        0 until one has been seen to arrive (`arrived`): a topic that nobody uses has
        not stopped.
        """
        if not table.max.complete:
            return None
        total, before = table.max.total(), self._arrived
        if before is None:
            self._arrived = total, at_ms, False
        elif before[0] != total:
            self._arrived = total, at_ms, True
        _total, since_ms, moved = self._arrived or (0, at_ms, False)
        return at_ms - since_ms if moved else 0

    @property
    def arrived(self) -> bool:
        """Whether a message was ever seen to arrive."""
        return self._arrived is not None and self._arrived[2]

    def take_letters(self, total: int | None, at_ms: int) -> None:
        """Note how many dead letters ever came, None if that is not known."""
        points = self._letters
        self._letters_known = total is not None
        if total is None:
            return
        if points and total < points[-1][1]:
            points.clear()  # the topic was deleted
        if not points or points[-1][1] != total:
            points.append((at_ms, total))
        while len(points) > 1 and points[1][0] <= at_ms - LETTERS_KEPT_MS:
            points.pop(0)
        if len(points) > MOST_POINTS:
            del points[1 : MOST_POINTS // 2 : 2]

    def letters_seen(self, from_ms: int) -> bool:
        """Return whether dead letters were counted from a time on."""
        return bool(self._letters) and self._letters[0][0] <= from_ms

    def letters_since(self, from_ms: int) -> int | None:
        """Return how many dead letters came since a time; None if not known."""
        if not self._letters_known or not self._letters:
            return None
        earlier = [total for at_ms, total in self._letters if at_ms <= from_ms]
        first = earlier[-1] if earlier else self._letters[0][1]
        return self._letters[-1][1] - first
