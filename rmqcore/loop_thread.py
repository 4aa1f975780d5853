"""An event loop in a thread, for code without asyncio.

`call` waits for a coroutine's result, `submit` does not. Code on the loop itself must
not use `call`: it would wait for itself, and gets `StateError`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from typing import Any, Final, TypeVar

from rmqcore.errors import StateError

T = TypeVar("T")

_running: set[asyncio.AbstractEventLoop] = set()

STOP_SECONDS: Final = 10.0


class LoopThread:
    """One event loop in one daemon thread, from `start` to `stop`.

    With `starts_itself`, the first work that is handed to it starts it.
    """

    def __init__(self, name: str, *, starts_itself: bool = False) -> None:
        self._name = name
        self._starts_itself = starts_itself
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        """Whether it is between `start` and `stop`."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Start the thread; return when the loop runs."""
        with self._starting:
            if self._loop is not None:
                return
            ready = threading.Event()
            self._thread = threading.Thread(
                target=self._main, args=(ready,), name=self._name, daemon=True
            )
            self._thread.start()
            ready.wait()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine on the loop; cancelling the future cancels it."""
        if self._starts_itself:
            self.start()
        if self._loop is None:
            work.close()
            raise StateError(f"{self._name} is not running")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Run a coroutine on the loop and wait for its result or exception.

        After `timeout` seconds, and when interrupted while waiting, it cancels the
        coroutine. Raises TimeoutError, and `StateError` on the loop's own thread.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise StateError(
                "a call that waits was made on the event loop's own thread: "
                "use the asyncio client there, or a listener in a thread"
            )
        future = self.submit(work)
        try:
            return future.result(timeout)
        except FutureTimeoutError:
            if future.done():
                raise
            future.cancel()
            raise TimeoutError(f"{self._name}: no result in {timeout} s") from None
        except BaseException:
            future.cancel()
            raise

    def ask(self, function: Callable[[], T]) -> T:
        """Run a plain function on the loop's thread, and wait."""

        async def work() -> T:
            return function()

        return self.call(work())

    def call_soon(self, call: Callable[..., object], *args: object) -> None:
        """Run a plain call on the loop, without waiting for it."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(call, *args)

    def stop(self, wait_s: float = STOP_SECONDS) -> None:
        """Cancel what still runs on the loop, and end the thread.

        Return after `wait_s` seconds even if the thread has not ended by then.
        """
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        self._loop = None
        with suppress(RuntimeError):  # something on the loop may have ended it already
            loop.call_soon_threadsafe(loop.stop)
        thread.join(wait_s)

    def _main(self, ready: threading.Event) -> None:
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            self._loop = loop
            _running.add(loop)
            loop.call_soon(ready.set)
            try:
                loop.run_forever()
            finally:
                _running.discard(loop)


def running_loops() -> list[asyncio.AbstractEventLoop]:
    """Return the loops that run in threads of this process, for inspection only."""
    return list(_running)
