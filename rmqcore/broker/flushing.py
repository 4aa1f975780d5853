"""Flushing the commit log to disk, once for all senders that wait for it.

Group commit: a flush covers everything appended before it began. Whoever appends while
one is running waits for the next one, together with all others that came meanwhile; so
the number of flushes is limited by the disk, not by the number of senders.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor

from rmqcore.store import MessageStore


class LogFlusher:
    """Runs the flushes of one store in a thread, one at a time."""

    def __init__(self, store: MessageStore, executor: Executor) -> None:
        self._store = store
        self._executor = executor
        self._running: asyncio.Task[None] | None = None

    async def flush(self) -> None:
        """Return when everything appended so far is on the disk."""
        await self.wait_for(self._store.log_offsets[1])

    async def wait_for(self, log_offset: int) -> None:
        """Return when the log is on the disk up to an offset.

        Raises the disk's error in every caller that waits for the same flush.
        """
        while self._store.flushed_offset < log_offset:
            if self._running is None:
                self._running = asyncio.create_task(self._flush())
            await asyncio.shield(self._running)

    async def _flush(self) -> None:
        try:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._executor, self._store.flush)
        finally:
            self._running = None
