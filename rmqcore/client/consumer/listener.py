"""Listeners: the application's code that consumes messages, and how it is called.

A listener is any callable of (messages, context) that returns a `ConsumeResult`, or a
coroutine function that does. Coroutine functions run on the member's event loop. A
plain function may block, so it runs in one of the member's consume threads; one that
never blocks can be declared so, and then runs on the loop, which is several times
faster for short work.

Any other outcome counts as failure, as in RocketMQ: an exception, None, or any value
that is not a `ConsumeResult`.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TypeAlias, cast

from rmqcore.model import MessageExt, MessageQueue

from .listener_threads import ListenerThreads

logger = logging.getLogger(__name__)


class ConsumeResult(Enum):
    """A listener's verdict on the messages it was given."""

    SUCCESS = "success"
    RECONSUME_LATER = "reconsume later"
    """Concurrent: send them back for a delayed retry."""
    SUSPEND = "suspend"
    """Orderly: keep them, and try the queue again after a pause."""


@dataclass(slots=True)
class ConsumeContext:
    """The values that a listener may read and set, besides its messages.

    `ack_index` is the index of the last message that succeeded, for a batch of which
    only the rest is to be retried; `delay_level` chooses the delay of the retry (0: by
    the count of attempts, -1: dead letters at once); `suspend_ms` is the pause of an
    orderly queue.
    """

    queue: MessageQueue
    ack_index: int | None = None
    delay_level: int = 0
    suspend_ms: int | None = None


Listener: TypeAlias = Callable[
    [Sequence[MessageExt], ConsumeContext], ConsumeResult | Awaitable[ConsumeResult]
]
Call: TypeAlias = Callable[[Sequence[MessageExt], ConsumeContext], Awaitable[object]]


def is_async(listener: Listener) -> bool:
    """Tell whether a listener is a coroutine function, or an object acting as one."""
    inner: object = listener
    while isinstance(inner, partial):
        inner = inner.func
    return inspect.iscoroutinefunction(inner) or inspect.iscoroutinefunction(
        getattr(inner, "__call__", None)  # noqa: B004 - asked for what it is
    )


class ListenerCall:
    """Calls a member's listener and turns whatever happens into a result.

    `threads` is where plain functions run; None means that they never block.
    """

    def __init__(
        self, group: str, listener: Listener, threads: ListenerThreads | None
    ) -> None:
        self._group = group
        self._call = _caller(listener, threads)

    async def __call__(
        self, messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult | None:
        """Return the listener's result, or None if the listener failed (logged)."""
        try:
            result = await self._call(messages, context)
        except asyncio.CancelledError:
            if _we_are_cancelled():
                raise
            self._warn(context, "was cancelled")
            return None
        except Exception:
            logger.exception(
                "group=%s queue=%s listener failed", self._group, context.queue
            )
            return None
        if not isinstance(result, ConsumeResult):
            self._warn(context, f"returned {result!r:.80}, which counts as failure")
            return None
        return result

    def _warn(self, context: ConsumeContext, what: str) -> None:
        logger.warning(
            "group=%s queue=%s listener %s", self._group, context.queue, what
        )


def _caller(listener: Listener, threads: ListenerThreads | None) -> Call:
    if is_async(listener):
        return cast(Call, listener)
    if threads is not None:
        return partial(threads.run, listener)

    async def in_place(
        messages: Sequence[MessageExt], context: ConsumeContext
    ) -> object:
        return listener(messages, context)

    return in_place


def _we_are_cancelled() -> bool:
    """Tell whether we are cancelled, and not something that the listener awaited."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
