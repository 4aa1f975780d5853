"""A clock that runs faster than the machine's, for labs about long timers.

Lock expiry (60 s), renewal (20 s), the client's trust (30 s) and retry delays keep
their proportions, because everything in the lab's cluster uses the same clock; only the
person who watches waits less. Requests still time out by the machine's own clock.
"""

from __future__ import annotations

from typing import Final

from rmqcore.errors import ArgumentError
from rmqcore.transport import Clock, SystemClock

FASTEST: Final = 100.0
"""Beyond this, the loop's own delays are no longer small compared with the timers."""


class HurriedClock:
    """`pace` seconds pass on it for each second of the machine's clock."""

    def __init__(self, pace: float, machine: Clock | None = None) -> None:
        if not 1 <= pace <= FASTEST:
            raise ArgumentError(f"pace is {pace}, allowed 1 to {FASTEST:.0f}")
        self.pace = pace
        self._machine: Clock = machine or SystemClock()
        self._start_ms = self._machine.time_ms()
        self._start = self._machine.monotonic()

    def monotonic(self) -> float:
        """Return the seconds that have passed on this clock."""
        return (self._machine.monotonic() - self._start) * self.pace

    def time_ms(self) -> int:
        """Return milliseconds since the epoch; ahead of the machine's clock."""
        return self._start_ms + round(self.monotonic() * 1000)

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds` of this clock."""
        await self._machine.sleep(seconds / self.pace)
