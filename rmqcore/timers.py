"""When the six periodic pieces of work are due; makes sure that each slot runs once.

Theory. Time is cut into slots per timer, slot = floor(now / period), so that all who
use the same clock name the same slot. Whatever wants to run a slot (Celery's beat, a
fallback, an asyncio timer) asks `Schedule.claim`; the answer is yes once per slot, and
never for a slot older than one already run. Missed slots are not made up one by one:
the work is "bring things up to date", so only the newest counts. When the clock was put
back by more than a slot, the slots run ahead of it are forgotten, and slots that it has
not reached are refused: no timer waits for a wrong clock to come true.

This module decides and does not act: it holds no clock, no task and no consumer. Times
are seconds since the epoch (a float), as `time.time()` gives them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import floor
from types import MappingProxyType
from typing import Any, Final


class Timer(StrEnum):
    """The periodic pieces of work of a client."""

    REBALANCE = "rebalance"
    RENEW_LOCKS = "renew_locks"
    PERSIST_OFFSETS = "persist_offsets"
    HEARTBEAT = "heartbeat"
    REFRESH_ROUTES = "refresh_routes"
    EXPIRE_STUCK = "expire_stuck"


PERIOD_S: Final[Mapping[Timer, float]] = MappingProxyType(
    {
        Timer.REBALANCE: 20.0,
        Timer.RENEW_LOCKS: 20.0,
        Timer.PERSIST_OFFSETS: 5.0,
        Timer.HEARTBEAT: 30.0,
        Timer.REFRESH_ROUTES: 30.0,
        Timer.EXPIRE_STUCK: 60.0,
    }
)
"""Seconds between two runs of each timer."""

MAX_LATENESS_S: Final = 5.0
"""A worker runs a slot itself when its tick is late by more, or by period / 4."""


def slot_of(now: float, period: float) -> int:
    """Return the number of the slot that `now` lies in."""
    return floor(now / period)


@dataclass(frozen=True, slots=True)
class Slot:
    """One run of one timer: its number, and when it became due (epoch seconds)."""

    timer: str
    number: int
    due: float


class Schedule:
    """The last slot run of each timer. One schedule per worker, or per instance.

    `start` is the time from which slots count: the slot it lies in counts as run,
    because starting does all the work at once.
    """

    def __init__(self, start: float, periods: Mapping[Any, float] = PERIOD_S) -> None:
        self._periods: dict[str, float] = dict(periods)
        self._last = {
            timer: slot_of(start, period) for timer, period in self._periods.items()
        }

    @property
    def timers(self) -> Iterable[str]:
        """The timers of this schedule."""
        return self._periods

    def current(self, timer: str, now: float) -> Slot:
        """Return the slot of `timer` that `now` lies in."""
        return slot_at(timer, self._periods[timer], now)

    def claim(self, slot: Slot, now: float) -> bool:
        """Take a slot for running; false when it was taken, is over, or is not ours.

        It is over once the next slot is over, too: then it waited in a mailbox while
        this process stood still.
        """
        period = self._periods.get(slot.timer)
        if period is None or slot.number <= self._last_run(slot.timer, now):
            return False
        if slot.number > slot_of(now, period) + 1:
            return False
        if now >= (slot.number + 2) * period:
            return False
        self._last[slot.timer] = slot.number
        return True

    def left_out(self, slot: Slot) -> int:
        """Return how many slots of its timer were not run since the last one."""
        if slot.timer not in self._last:
            return 0
        return max(0, slot.number - self._last[slot.timer] - 1)

    def due(self, now: float) -> list[Slot]:
        """Return the slots that have begun and have not been taken, one per timer."""
        return [
            slot
            for timer in self._periods
            if (slot := self.current(timer, now)).number > self._last_run(timer, now)
        ]

    def overdue(self, now: float) -> list[Slot]:
        """Return the due slots whose tick is so late that they are run without it."""
        return [slot for slot in self.due(now) if now >= self._deadline(slot)]

    def next_due(self, now: float) -> float:
        """Return when the next slot of any timer begins; `now` if one is due."""
        return max(
            now,
            min(
                (self._last_run(timer, now) + 1) * period
                for timer, period in self._periods.items()
            ),
        )

    def _last_run(self, timer: str, now: float) -> int:
        """Return the last slot run; the one before `now` if the clock was put back."""
        current = slot_of(now, self._periods[timer])
        # Clocks that agree to within a second may differ by one slot.
        if self._last[timer] > current + 1:
            self._last[timer] = current - 1
        return self._last[timer]

    def _deadline(self, slot: Slot) -> float:
        return slot.due + min(self._periods[slot.timer] / 4, MAX_LATENESS_S)


def slot_at(timer: str, period: float, now: float) -> Slot:
    """Return the slot of a timer that `now` lies in."""
    number = slot_of(now, period)
    return Slot(timer, number, number * period)
