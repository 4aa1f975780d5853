"""Whether the wall clock can be trusted with deleting what is old.

A clock that jumps ahead makes everything old at once, and a jump cannot be told from a
machine that was off. So the time is only given out after the wall clock has kept pace
with the monotonic one for an hour, since the start of the process or since the last
jump: a clock that is put right within the hour has cost nothing.
"""

from __future__ import annotations

from typing import Final

from rmqcore.transport.clock import Clock, SystemClock

SETTLE_SECONDS: Final = 3600.0
STEP_SECONDS: Final = 60.0
"""The wall clock has jumped if the two differ by more than this between two looks."""


class SettledClock:
    """The wall clock for deletions by age; `now_ms` is to be asked every hour or so."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._since = self._clock.monotonic()
        self._ahead = self._clock.time_ms() / 1000 - self._since

    def now_ms(self) -> int | None:
        """Return ms since the epoch; None within an hour of the start or of a jump."""
        elapsed, now_ms = self._clock.monotonic(), self._clock.time_ms()
        ahead = now_ms / 1000 - elapsed
        if abs(ahead - self._ahead) > STEP_SECONDS:
            self._since = elapsed
        self._ahead = ahead
        return now_ms if elapsed - self._since >= SETTLE_SECONDS else None
