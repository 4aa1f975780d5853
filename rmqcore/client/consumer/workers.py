"""Workers: as many tasks as allowed, which take work from the head of one line.

A worker that finds more waiting starts one more worker before it begins, so work that
awaits something gets its full concurrency within a few turns of the loop, and work that
awaits nothing is done by one task without a task per piece. A worker lets others run
when 5 ms have passed, checked after every few pieces, and ends when the line is empty.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, Generic, TypeVar

from rmqcore.errors import ArgumentError
from rmqcore.transport import Clock

logger = logging.getLogger(__name__)

TURN_S: Final = 0.005
_LOOK_EVERY: Final = 8

T = TypeVar("T")


class Workers(Generic[T]):
    """Handles pieces of work, at most `limit` at once. Belongs to one event loop."""

    def __init__(
        self, handle: Callable[[T], Awaitable[None]], limit: int, clock: Clock
    ) -> None:
        if limit < 1:
            raise ArgumentError(f"{limit} consume threads, need at least 1")
        self._handle = handle
        self._limit = limit
        self._clock = clock
        self._line: deque[T] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = False

    @property
    def waiting(self) -> int:
        """The number of pieces that wait for a worker."""
        return len(self._line)

    def submit(self, pieces: Iterable[T]) -> None:
        """Put pieces of work at the end of the line."""
        self._line.extend(pieces)
        self._start_if_needed()

    async def close(self) -> None:
        """Empty the line, and cancel the pieces being handled."""
        self._line.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start_if_needed(self) -> None:
        if self._line and not self._starting and len(self._tasks) < self._limit:
            self._start()

    def _start(self) -> None:
        self._starting = True
        task = asyncio.get_running_loop().create_task(self._work())
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def _work(self) -> None:
        self._starting = False
        line, monotonic = self._line, self._clock.monotonic
        handle, look_in = self._handle, _LOOK_EVERY
        turn_ends = monotonic() + TURN_S
        while line:
            piece = line.popleft()
            if line and not self._starting and len(self._tasks) < self._limit:
                self._start()
            await handle(piece)
            look_in -= 1
            if not look_in:
                look_in = _LOOK_EVERY
                if monotonic() > turn_ends:
                    await asyncio.sleep(0)
                    turn_ends = monotonic() + TURN_S

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            # It may have been cancelled before its first turn.
            self._starting = False
            return
        if (error := task.exception()) is not None:
            logger.error("worker failed", exc_info=error)
        self._start_if_needed()
