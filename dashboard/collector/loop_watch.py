"""Tells whether an event loop gets to its work, and how long it was kept from it.

A task on the loop beats at a fixed period. Time beyond the period between two beats is
time in which the loop was held: something on it computed, or the whole process did not
run. Time is monotonic and an argument; any thread may look.
"""

from __future__ import annotations

import time
from collections.abc import Callable


class LoopWatch:
    """The beats of one loop, expected every `period_s` seconds."""

    def __init__(
        self, period_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._period_s = period_s
        self._clock = clock
        self._beat_at = clock()
        self._beating = False
        self._held_s = 0.0

    def beat(self) -> None:
        """Note that the loop runs; called on the loop."""
        now = self._clock()
        if self._beating:
            self._held_s = max(self._held_s, now - self._beat_at - self._period_s)
        self._beat_at, self._beating = now, True

    @property
    def silent_s(self) -> float:
        """How long ago the last beat was, or the start where there was none yet."""
        return self._clock() - self._beat_at

    def take_held_ms(self) -> int:
        """Return the longest time that the loop was held since this was last asked."""
        held_s, self._held_s = self._held_s, 0.0
        return round(held_s * 1000)
