"""A thread that does database work for code on an event loop.

Django's database layer is synchronous and ties connections to threads: a loop hands
such work to a `DatabaseThread`, which does it in order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import close_old_connections, connections

T = TypeVar("T")


class DatabaseThread:
    """One thread with its own database connections; may be used from any loop."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def run(self, work: Callable[[], T]) -> T:
        """Do blocking work after all earlier work, and return its result."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, _with_connections, work)

    def close(self) -> None:
        """Wait for the pending work, close the connections and end the thread."""
        self._executor.submit(connections.close_all).result()
        self._executor.shutdown()


def _with_connections(work: Callable[[], T]) -> T:
    close_old_connections()
    return work()
