"""Threads between synchronous code and asyncio: one with a loop, one for the database.

Views, commands and Celery's main thread are synchronous; everything that speaks
RocketMQ's protocol is asyncio. A `LoopThread` runs one loop; `run` waits for a
coroutine's result with a limit, `submit` does not wait. Nothing inside the loop may
call `run` on it: that would wait for itself.

Django's database layer is synchronous and ties connections to threads: a loop hands
such work to a `DatabaseThread`, which does it in order.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, Final, TypeVar

from django.db import close_old_connections, connections

T = TypeVar("T")

STOP_SECONDS: Final = 10.0


class LoopThread:
    """One event loop in one daemon thread, from `start` to `stop`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread; returns when the loop runs."""
        ready = threading.Event()
        self._thread = threading.Thread(
            target=self._main, args=(ready,), name=self._name, daemon=True
        )
        self._thread.start()
        ready.wait()

    @property
    def running(self) -> bool:
        """True between `start` and `stop`."""
        return self._thread is not None and self._thread.is_alive()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin a coroutine on the loop and return at once."""
        if self._loop is None:
            work.close()
            raise RuntimeError(f"{self._name} does not run")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T], timeout: float) -> T:
        """Run a coroutine on the loop and wait for its result.

        Raises TimeoutError, and cancels the coroutine, after `timeout` seconds.
        """
        future = self.submit(work)
        try:
            return future.result(timeout)
        except FutureTimeoutError:
            if future.done():
                raise
            future.cancel()
            raise TimeoutError(f"{self._name}: no result in {timeout} s") from None

    def call_soon(self, call: Callable[..., object], *args: object) -> None:
        """Run a plain call on the loop, without waiting for it."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(call, *args)

    def stop(self) -> None:
        """Cancel what still runs on the loop, and end the thread."""
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        self._loop = None
        loop.call_soon_threadsafe(loop.stop)
        thread.join(STOP_SECONDS)

    def _main(self, ready: threading.Event) -> None:
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            self._loop = loop
            loop.call_soon(ready.set)
            loop.run_forever()


class DatabaseThread:
    """One thread with its own database connections; may be used from any loop."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def run(self, work: Callable[[], T]) -> T:
        """Do blocking work after what was asked before, and return its result."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, _with_connections, work)

    def close(self) -> None:
        """Wait for what was asked, close the connections and end the thread."""
        self._executor.submit(connections.close_all).result()
        self._executor.shutdown()


def _with_connections(work: Callable[[], T]) -> T:
    close_old_connections()
    return work()
