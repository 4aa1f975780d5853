"""The truth over time: numbers read from brokers, who was connected, who was silent.

A reading was taken at some moment between asking and answer. What a number may have
been in a span is told by the readings in it and the ones just before and after: while a
broker stands still there are none, and its numbers stand still, too. Times are ms since
1970.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Final

from benchmarks.seven_groups import Hold, QueueKey

FOREVER: Final = 2**62


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the most that a number may have been."""

    low: int
    high: int

    def hold(self, number: int) -> bool:
        """Tell whether the number can have been true."""
        return self.low <= number <= self.high

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.low + other.low, self.high + other.high)

    def minus(self, other: Bounds) -> Bounds:
        """Return the bounds of a difference, which is never less than 0."""
        low, high = self.low - other.high, self.high - other.low
        return Bounds(max(0, low), max(0, high))

    def __str__(self) -> str:
        return f"{self.low} to {self.high}"


class Course:
    """The readings of one number, in order of time; equal ones in a row are joined."""

    def __init__(self) -> None:
        self._asked: list[int] = []
        self._answered: list[int] = []
        self._values: list[int] = []

    def add(self, asked_ms: int, answered_ms: int, value: int) -> None:
        """Add a reading, later than all before."""
        if self._values[-2:] == [value, value]:
            self._answered[-1] = answered_ms
            self._asked[-1] = asked_ms
            return
        self._asked.append(asked_ms)
        self._answered.append(answered_ms)
        self._values.append(value)

    def between(self, from_ms: int, to_ms: int) -> Bounds | None:
        """Return what the number may have been; None where readings do not reach."""
        first = bisect_right(self._answered, from_ms) - 1
        last = bisect_left(self._asked, to_ms)
        if first < 0 or last == len(self._values):
            return None
        values = self._values[first : last + 1]
        return Bounds(min(values), max(values))


@dataclass(slots=True)
class Silence:
    """A span in which a process stood still or was gone; open while it lasts."""

    who: str
    from_ms: int
    to_ms: int = FOREVER


@dataclass(slots=True)
class Truth:
    """All that is known of what was true; filled while looks are taken."""

    maxima: dict[QueueKey, Course] = field(default_factory=dict)
    committed: dict[tuple[str, QueueKey], Course] = field(default_factory=dict)
    silences: list[Silence] = field(default_factory=list)
    connections: Sequence[tuple[int, str, int]] = ()
    holds: Sequence[Hold] = ()
    answered_ms: dict[str, int] = field(default_factory=dict)
    """When each broker last answered a reading."""

    def read_max(self, key: QueueKey, asked_ms: int, now_ms: int, value: int) -> None:
        """Take a reading of a queue's end."""
        self.maxima.setdefault(key, Course()).add(asked_ms, now_ms, value)

    def read_committed(
        self, group: str, key: QueueKey, asked_ms: int, now_ms: int, value: int
    ) -> None:
        """Take a reading of what a group has committed."""
        course = self.committed.setdefault((group, key), Course())
        course.add(asked_ms, now_ms, value)

    def keys(self, topic: str) -> list[QueueKey]:
        """Return the queues of a topic that were ever read."""
        return sorted(key for key in self.maxima if key[0] == topic)

    def lag(self, group: str, key: QueueKey, from_ms: int, to_ms: int) -> Bounds | None:
        """Return the bounds of what waits in a queue."""
        course = self.committed.get((group, key))
        ends = self.maxima[key].between(from_ms, to_ms)
        done = course.between(from_ms, to_ms) if course else None
        return ends.minus(done) if ends and done else None

    def lag_of_all(
        self, group: str, topic: str, from_ms: int, to_ms: int
    ) -> Bounds | None:
        """Return the bounds of what waits in all queues that were ever committed."""
        parts = [
            self.lag(group, key, from_ms, to_ms)
            for key in self.keys(topic)
            if (group, key) in self.committed
        ]
        known = [part for part in parts if part is not None]
        return reduce(add, known) if known and len(known) == len(parts) else None

    def was_silent(self, who: str, at_ms: int, slack_ms: int) -> bool:
        """Tell whether somebody cannot have answered at a moment."""
        return any(
            each.from_ms + slack_ms < at_ms < each.to_ms - slack_ms
            for each in self.silences
            if each.who == who
        )

    def members(self, group: str, from_ms: int, to_ms: int) -> Bounds | None:
        """Return how many members may have been connected in a span."""
        found = [(at, count) for at, name, count in self.connections if name == group]
        return _extremes(found, from_ms, to_ms)

    def holders(self, group: str, key: QueueKey, from_ms: int, to_ms: int) -> set[str]:
        """Return who held a queue at any moment of a span; "" where nobody did."""
        moments = [
            (hold.at_ms, hold.member, hold.client_id if key in hold.queues else "")
            for hold in self.holds
            if hold.group == group
        ]
        now: dict[str, str] = {}
        found: set[str] = set()
        began = False
        for at_ms, member, holder in moments:
            if at_ms > to_ms:
                break
            if at_ms >= from_ms and not began:
                found |= _holding(now)
                began = True
            now[member] = holder
            if began:
                found |= _holding(now)
        return found or _holding(now)


def _holding(now: dict[str, str]) -> set[str]:
    return set(filter(None, now.values())) or {""}


def _extremes(
    changes: Iterable[tuple[int, int]], from_ms: int, to_ms: int
) -> Bounds | None:
    before: list[int] = []
    within: list[int] = []
    for at_ms, value in changes:
        if at_ms <= from_ms:
            before = [value]
        elif at_ms <= to_ms:
            within.append(value)
    values = before + within
    return Bounds(min(values), max(values)) if before else None
