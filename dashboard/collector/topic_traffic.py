"""What comes to a topic's queues: rates, shares, hot queues, and the last hour.

A rate is a difference of maximum offsets over the time between two sweeps. Shares are
measured over five minutes as a whole, and a queue is hot when it got three times its
even share or more of them: a rule that had to hold at each single sweep would be reset
by one quiet moment. Below a message a second on average, chance decides which queue
gets more, and no queue is called hot.

Columns are shared with snapshots. A topic to which nothing came has the same column at
each sweep, and costs no loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import sub
from typing import Final, NamedTuple

from rmqcore.model.columns import Column, QueueKey

RATE_MS: Final = 30_000
SHARE_MS: Final = 300_000
APART_MS: Final = 25_000
SLACK_MS: Final = 5_000
SHORTEST_MS: Final = 900
HOT_TIMES: Final = 3.0
HOT_MESSAGES: Final = 300
"""Fewer messages in five minutes say nothing about how they are spread."""
POINTS: Final = 30
STEP_MS: Final = 120_000


class Mark(NamedTuple):
    """The maximum offsets of a topic's queues at one time."""

    at_ms: int
    keys: tuple[QueueKey, ...]
    max: Column


@dataclass(frozen=True, slots=True)
class Flow:
    """The messages that came to each queue within some seconds; None: not known."""

    seconds: float
    rows: Sequence[int | None]

    @property
    def total(self) -> int:
        """How many came to the queues that are known."""
        return sum(row for row in self.rows if row is not None)

    @property
    def complete(self) -> bool:
        """Whether it is known for each queue."""
        return None not in self.rows

    def rates(self) -> list[float | None]:
        """Return the messages per second of each queue."""
        return [
            None if row is None else round(row / self.seconds, 1) for row in self.rows
        ]


class HourTrend:
    """The mean rate in each two minutes of the last hour, the running span last."""

    __slots__ = ("_messages", "_ms", "_points", "_span")

    def __init__(self, points: Sequence[float | None] = (), at_ms: int = 0) -> None:
        kept = list(points)[-POINTS:]
        self._points: list[float | None] = [
            *(None for _ in range(POINTS - len(kept))),
            *kept,
        ]
        self._span = at_ms // STEP_MS
        self._messages = self._ms = 0

    def add(self, at_ms: int, messages: int, ms: int) -> None:
        """Take the messages that came in the time up to now."""
        self._turn(at_ms)
        self._messages += messages
        self._ms += ms
        self._points[-1] = round(self._messages / self._ms * 1000, 1)

    def points(self, at_ms: int) -> list[float | None]:
        """Return the rates, oldest first."""
        self._turn(at_ms)
        return list(self._points)

    def _turn(self, at_ms: int) -> None:
        passed = min(POINTS, at_ms // STEP_MS - self._span)
        if passed > 0:
            self._points = self._points[passed:] + [None] * passed
            self._span = at_ms // STEP_MS
            self._messages = self._ms = 0


class TopicTraffic:
    """One topic's marks within five minutes, and what follows from them."""

    __slots__ = ("_flows", "_hot_since", "_marks", "quiet_since", "trend")

    def __init__(
        self,
        trend: HourTrend | None = None,
        quiet_since: int | None = None,
        before: Mark | None = None,
    ) -> None:
        """Begin with what the previous leader has left, if anything."""
        self.trend = trend or HourTrend()
        self.quiet_since = quiet_since
        self._marks: list[Mark] = [] if before is None else [before]
        self._hot_since: dict[QueueKey, int] = {}
        self._flows: dict[int, Flow | None] = {}
        """What came within some times before the newest mark, as far as was asked."""

    @property
    def stands_still(self) -> bool:
        """Whether nothing came within the time that is looked at, and all is known.

        Then nothing but the trend can change until something comes.
        """
        last = self._marks[-1]
        return (
            self.flow(RATE_MS) is not None
            and last.max.complete
            and not self._hot_since
            and all(
                each.max is last.max and each.keys is last.keys for each in self._marks
            )
        )

    def add(self, mark: Mark) -> None:
        """Take the offsets of one sweep; times never go back."""
        marks = self._marks
        self._flows.clear()
        self._note(marks[-1] if marks else None, mark)
        if len(marks) > 1 and marks[-1].at_ms - marks[-2].at_ms < APART_MS:
            marks.pop()
        marks.append(mark)
        while mark.at_ms - marks[0].at_ms > SHARE_MS + SLACK_MS:
            del marks[0]

    def flow(self, within_ms: int) -> Flow | None:
        """Return what came since the oldest comparable mark of that time."""
        if within_ms not in self._flows:
            self._flows[within_ms] = self._flow(within_ms)
        return self._flows[within_ms]

    def _flow(self, within_ms: int) -> Flow | None:
        newest = self._marks[-1]
        for mark in self._marks:
            passed = newest.at_ms - mark.at_ms
            if passed < SHORTEST_MS:
                return None
            if passed <= within_ms + SLACK_MS and mark.keys == newest.keys:
                return Flow(passed / 1000, _came(mark.max, newest.max))
        return None

    def hot(self, even_over: int) -> list[tuple[QueueKey, float, int]]:
        """Return hot queues, their shares and since when; see the module's docstring.

        `even_over` is the number of queues that producers may choose from.
        """
        flow, newest = self.flow(SHARE_MS), self._marks[-1]
        if flow is None or flow.seconds * 1000 < SHARE_MS - APART_MS - SLACK_MS:
            return []
        total = flow.total
        if not flow.complete or total < HOT_MESSAGES or even_over < 2:
            self._hot_since.clear()
            return []
        least = total * HOT_TIMES / even_over
        before, self._hot_since = self._hot_since, {}
        began = newest.at_ms - round(flow.seconds * 1000)
        found = []
        for key, row in zip(newest.keys, flow.rows, strict=True):
            if row is not None and row >= least:
                self._hot_since[key] = before.get(key, began)
                found.append((key, round(row / total, 3), self._hot_since[key]))
        return sorted(found, key=lambda each: -each[1])

    def skew(self, even_over: int) -> float | None:
        """Return the largest queue's traffic over the mean; None where unknown."""
        flow = self.flow(SHARE_MS)
        if flow is None or not flow.complete or not even_over:
            return None
        total = flow.total
        most = max((row for row in flow.rows if row is not None), default=0)
        return round(most * even_over / total, 2) if total else None

    def _note(self, before: Mark | None, mark: Mark) -> None:
        came: Sequence[int | None] = (None,)
        if before and before.keys == mark.keys:
            came = _came(before.max, mark.max)
        seen = None not in came
        if not any(mark.max.values) and mark.max.complete:
            self.quiet_since = 0
        elif self.quiet_since in (None, 0) or any(came) or not seen:
            # What came unseen may have come just now.
            self.quiet_since = mark.at_ms
        if before and seen and before.at_ms < mark.at_ms:
            total = sum(row or 0 for row in came)
            self.trend.add(mark.at_ms, total, mark.at_ms - before.at_ms)


def _came(before: Column, after: Column) -> Sequence[int | None]:
    if before.complete and after.complete:
        if before is after:
            return (0,) * len(after)
        came = list(map(sub, after.values, before.values))
        if came and min(came) >= 0:
            return came
    return [
        None if old is None or new is None or new < old else new - old
        for old, new in zip(before, after, strict=True)
    ]
