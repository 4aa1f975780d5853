"""The listener of a hosted member: where it is made and called, and for how long.

Whatever a listener does, it does to its own member alone. A plain function is called in
threads of its member, a coroutine function on an event loop in a thread of its member.
The built-in ones neither block nor compute, so they stay on the loop of all members,
where a call costs a tenth.

Threads start with the first call. They are left when the member ends, and nobody waits
for a call that never ends: its thread is a daemon, which ends with the process. The
threads of a process take turns at the interpreter, so a listener that computes all the
time slows the other members down, but does not stop them.

Belongs to the event loop of its member.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, cast

from rmqcore.client import ConsumeContext, Listener
from rmqcore.client.consumer.listener import Call, is_async
from rmqcore.client.consumer.listener_threads import ListenerThreads
from rmqcore.errors import StateError
from rmqcore.loop_thread import LoopThread
from rmqcore.model import MessageExt, MessageQueue

from .listeners import BUILT_IN, make_listener
from .specs import MemberSpec

logger = logging.getLogger(__name__)

LISTENER_THREADS: Final = 20
"""How many calls of one member's plain listener run at once, as in RocketMQ."""

BUSY_SECONDS: Final = 60.0
"""Longer calls are named in the log; RocketMQ gives up messages after 15 minutes."""


@dataclass(slots=True, eq=False)
class _UnderWay:
    """A call that has not returned; `since_ms` is set when it is found to be long."""

    queue: MessageQueue
    offset: int
    began: float
    since_ms: int | None = None


class MemberListener:
    """Calls a member's listener; `make` comes before the first call, `close` last."""

    def __init__(
        self, spec: MemberSpec, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._spec = spec
        self._name = f"consume-{spec.group}-{spec.number}"
        self._monotonic = monotonic
        self._call: Call | None = None
        self._threads: ListenerThreads | None = None
        self._loop: LoopThread | None = None
        self._under_way: set[_UnderWay] = set()

    @property
    def made(self) -> bool:
        """Whether calls can be made."""
        return self._call is not None

    async def make(self) -> None:
        """Make the listener if there is none; raises what `make_listener` raises."""
        if self.made:
            return
        name, options = self._spec.listener, self._spec.listener_options
        if name in BUILT_IN:
            self._call = cast("Call", make_listener(name, options))
            return
        try:
            made = await self._in_thread(make_listener, name, options)
        finally:
            self.close()
        listener = cast("Listener", made)
        where = self._on_own_loop if is_async(listener) else self._in_thread
        self._call = partial(where, listener)

    async def __call__(
        self, messages: Sequence[MessageExt], context: ConsumeContext
    ) -> object:
        """Return what the listener returns; raise an `Exception` if it raises."""
        if self._call is None:
            raise StateError(f"{self._name} is called before its listener is made")
        call = _UnderWay(context.queue, messages[0].queue_offset, self._monotonic())
        self._under_way.add(call)
        try:
            return await self._call(messages, context)
        finally:
            self._under_way.discard(call)

    def busy_since_ms(self, client_id: str, now_ms: int) -> int | None:
        """Return when the longest call began, in ms, if it takes `BUSY_SECONDS`.

        The log names each such call once.
        """
        now, since_ms = self._monotonic(), []
        for call in self._under_way:
            age = now - call.began
            if age < BUSY_SECONDS:
                continue
            if call.since_ms is None:
                call.since_ms = now_ms - round(age * 1000)
                logger.warning(
                    "group=%s client=%s queue=%s offset=%d "
                    "listener has not returned for %.0f s",
                    *(self._spec.group, client_id, call.queue, call.offset, age),
                )
            since_ms.append(call.since_ms)
        return min(since_ms, default=None)

    def close(self) -> None:
        """Let go of the threads; calls that have not ended are cancelled."""
        if self._threads is not None:
            self._threads.close()
            self._threads = None
        if self._loop is not None:
            self._loop.stop(0)
            self._loop = None

    # Private

    async def _in_thread(
        self, function: Callable[..., object], *args: object
    ) -> object:
        if self._threads is None:
            self._threads = ListenerThreads(LISTENER_THREADS, self._name)
        return await self._threads.run(_call, function, *args)

    async def _on_own_loop(
        self,
        listener: Listener,
        messages: Sequence[MessageExt],
        context: ConsumeContext,
    ) -> object:
        if self._loop is None or not self._loop.running:
            # A listener can also stop the loop that it runs on.
            self._loop = LoopThread(self._name)
            self._loop.start()
        call = _call_on_loop(cast("Call", listener), messages, context)
        return await asyncio.wrap_future(self._loop.submit(call))


@contextmanager
def _contained() -> Iterator[None]:
    """Turn what would end a thread or a loop, such as SystemExit, into a failure."""
    try:
        yield
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as error:
        raise RuntimeError(f"listener raised {error!r}") from error


def _call(function: Callable[..., object], *args: object) -> object:
    """Call a function of the user's in a thread."""
    with _contained():
        return function(*args)


async def _call_on_loop(
    call: Call, messages: Sequence[MessageExt], context: ConsumeContext
) -> object:
    """Call a coroutine function of the user's on its loop."""
    with _contained():
        return await call(messages, context)
