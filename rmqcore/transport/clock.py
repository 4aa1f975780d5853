"""Time as an argument: the system's clock, and one that a test moves by hand."""

from __future__ import annotations

import asyncio
import heapq
import time
from itertools import count
from typing import Protocol


class Clock(Protocol):
    """The clock for code that waits or takes timestamps."""

    def monotonic(self) -> float:
        """Return seconds since an arbitrary point; never goes back."""

    def time_ms(self) -> int:
        """Return milliseconds since the epoch."""

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds` of this clock."""


class SystemClock:
    """The machine's own clock."""

    __slots__ = ()

    def monotonic(self) -> float:
        """Return the machine's monotonic clock in seconds."""
        return time.monotonic()

    def time_ms(self) -> int:
        """Return the machine's wall clock in milliseconds."""
        return time.time_ns() // 1_000_000

    async def sleep(self, seconds: float) -> None:
        """Sleep on the running loop."""
        await asyncio.sleep(seconds)


class ManualClock:
    """A clock that stands still until `advance` moves it; sleepers wake in order."""

    def __init__(self, start_ms: int = 1_700_000_000_000) -> None:
        self._start_ms = start_ms
        self._now = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()

    def monotonic(self) -> float:
        """Return the seconds advanced so far."""
        return self._now

    def time_ms(self) -> int:
        """Return the start plus what was advanced, in milliseconds."""
        return self._start_ms + round(self._now * 1000)

    def jump(self, seconds: float) -> None:
        """Put the wall clock ahead, or back; the monotonic one goes on as it was."""
        self._start_ms += round(seconds * 1000)

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced past now + `seconds`."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), woken))
        await woken

    async def advance(self, seconds: float) -> None:
        """Move time forward, waking each sleeper at its own time.

        Between two sleepers the loop runs until the first one's work has settled, so
        that it may go to sleep again within the same call.
        """
        end = self._now + seconds
        await _settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            due, _, woken = heapq.heappop(self._sleepers)
            self._now = max(self._now, due)
            if not woken.done():
                woken.set_result(None)
                await _settle()
        self._now = end
        await _settle()


async def _settle(rounds: int = 10) -> None:
    for _ in range(rounds):
        await asyncio.sleep(0)
