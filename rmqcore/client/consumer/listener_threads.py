"""Threads for listeners that may block.

Theory. Work goes to the threads through one queue; outcomes come back through one list,
and the event loop is woken once for all that are in it, not once for each: a wake-up
costs more than a short listener. The threads are daemons, so that a listener that never
returns does not keep the process from ending.

Invariants: at most `limit` calls run at once; every future ends: with the call's
result, with its exception, or cancelled by `close`.

Cost: some ten microseconds per call besides the listener, when several are under way.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeAlias

_Call: TypeAlias = tuple["asyncio.Future[object]", Callable[..., object], Any]


class ListenerThreads:
    """Runs calls in threads, started as they are needed. Belongs to one event loop."""

    def __init__(self, limit: int, name: str) -> None:
        self._limit = limit
        self._name = name
        self._loop = asyncio.get_running_loop()
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._done: deque[tuple[asyncio.Future[object], object, bool]] = deque()
        self._woken = False
        self._under_way: set[asyncio.Future[object]] = set()
        self._threads: list[threading.Thread] = []

    def run(
        self, function: Callable[..., object], *arguments: object
    ) -> asyncio.Future[object]:
        """Call a function in a thread; the future ends with its outcome."""
        future: asyncio.Future[object] = self._loop.create_future()
        self._under_way.add(future)
        if len(self._threads) < min(len(self._under_way), self._limit):
            self._start()
        self._calls.put((future, function, arguments))
        return future

    def close(self) -> None:
        """End the threads once they are idle; calls not yet ended are cancelled."""
        for _ in self._threads:
            self._calls.put(None)
        for future in self._under_way:
            future.cancel()
        self._under_way.clear()

    def _start(self) -> None:
        name = f"{self._name}_{len(self._threads)}"
        thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _work(self) -> None:
        """Run calls in a thread until it is told to end."""
        while (call := self._calls.get()) is not None:
            future, function, arguments = call
            if future.cancelled():
                continue
            try:
                outcome, failed = function(*arguments), False
            except BaseException as error:  # the loop is told, whatever it is
                outcome, failed = error, True
            self._done.append((future, outcome, failed))
            if not self._woken:
                self._woken = True
                try:
                    self._loop.call_soon_threadsafe(self._collect)
                except RuntimeError:
                    return  # the loop is closed: nobody waits any more

    def _collect(self) -> None:
        """Hand over the outcomes that are back. Later ones wake the loop again."""
        self._woken = False
        while self._done:
            future, outcome, failed = self._done.popleft()
            self._under_way.discard(future)
            if future.done():
                continue
            if not failed:
                future.set_result(outcome)
            elif isinstance(outcome, StopIteration):
                # A future does not accept that exception.
                future.set_exception(RuntimeError(f"listener raised {outcome!r}"))
            else:
                future.set_exception(outcome)  # type: ignore[arg-type]
