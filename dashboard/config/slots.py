"""Which slot of each timer a role ran last, so that none is run twice.

A slot may be asked for by beat, by a second beat, or by the role itself when the tick
did not come. It is taken once; slots that are over are not made up for, since each run
brings things up to date.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Final

from .ticks import FALLBACK, Tick, tick_at

MAX_LATENESS_S: Final = 5.0


class Slots:
    """The slots of one role; times are epoch seconds.

    The slots that `start` lies in count as run: starting does all the work at once.
    """

    def __init__(self, periods: Mapping[str, float], start: float) -> None:
        self._periods = dict(periods)
        self._last = {
            timer: floor(start / period) for timer, period in self._periods.items()
        }

    def take(self, tick: Tick, now: float) -> bool:
        """Take a slot for running; False when it was taken, is over, or not ours."""
        period = self._periods.get(tick.timer)
        if period is None or tick.slot <= self._last[tick.timer]:
            return False
        if now >= (tick.slot + 2) * period:
            # It waited in a mailbox while this process stood still.
            return False
        self._last[tick.timer] = tick.slot
        return True

    def left_out(self, tick: Tick) -> int:
        """Return how many slots of a tick's timer nobody ran since the last taken."""
        if tick.timer not in self._last:
            return 0
        return max(0, tick.slot - self._last[tick.timer] - 1)

    def late(self, now: float) -> list[Tick]:
        """Return the slots whose tick is late by min(period / 4, 5 s)."""
        found = []
        for timer, period in self._periods.items():
            tick = tick_at(timer, period, now, FALLBACK)
            deadline = tick.due + min(period / 4, MAX_LATENESS_S)
            if tick.slot > self._last[timer] and now >= deadline:
                found.append(tick)
        return found
