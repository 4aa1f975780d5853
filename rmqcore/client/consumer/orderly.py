"""Orderly consumption: messages of a queue one after another (C7, C9).

A queue with messages is one piece of work: a worker takes the lowest messages, calls
the listener, commits, takes the next. It goes on for a minute at most, then waits its
turn again behind the others. Two locks guard the order: the broker's, without which
nothing is taken, and a local one per queue, which also holds when the queue was given
up and came back while a listener was still at work.

Failure puts the messages back and tries them again after a pause, as often as allowed
(by default without limit); after that they go to the retry topic like any message.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Final

from rmqcore.client.membership.group import GroupContext
from rmqcore.client.membership.process_queue import ProcessQueue
from rmqcore.model import MessageExt, MessageQueue

from .listener import ConsumeContext, ConsumeResult, ListenerCall
from .push_settings import PushSettings
from .retries import Retries, as_subscribed
from .service import ConsumptionService

logger = logging.getLogger(__name__)

TURN_MS: Final = 60_000
"""A queue is worked on for this long before others get their turn."""
WITHOUT_LOCK_S: Final = 0.1
"""Pause before checking again whether the broker's lock is back."""
MIN_SUSPEND_MS: Final = 10
MAX_SUSPEND_MS: Final = 30_000


class OrderlyService(ConsumptionService[ProcessQueue]):
    """The orderly consumption of one member's messages."""

    def __init__(
        self,
        context: GroupContext,
        listener: ListenerCall,
        retries: Retries,
        settings: PushSettings,
    ) -> None:
        super().__init__(context, listener, retries, settings)
        self._suspend_ms = settings.suspend_ms
        self._local_locks: dict[MessageQueue, asyncio.Lock] = {}

    def deliver(self, process: ProcessQueue, messages: list[MessageExt]) -> None:
        """Take pulled messages into the process queue, and see that it is worked on."""
        if process.put_messages(messages):
            self.workers.submit([process])

    async def expire_stuck(self) -> None:
        """Do nothing: an orderly queue waits for its first message, however long."""

    async def _consume(self, process: ProcessQueue, /) -> None:
        lock = self._local_locks.setdefault(process.queue, asyncio.Lock())
        async with lock:
            ends_ms = self._context.now_ms() + TURN_MS
            while not process.ending:
                if not self._may_consume(process):
                    self._again_after(process, WITHOUT_LOCK_S)
                    return
                if self._context.now_ms() > ends_ms:
                    self.workers.submit([process])
                    return
                if not await self._consume_some(process):
                    return

    def _may_consume(self, process: ProcessQueue) -> bool:
        context = self._context
        return not context.needs_locks or process.holds_lock(context.now_ms())

    async def _consume_some(self, process: ProcessQueue) -> bool:
        """Consume one batch; return True when the next may follow at once."""
        context = self._context
        began, now_ms = self._clock.monotonic(), context.now_ms()
        messages = process.take_messages(self._batch_size, now_ms)
        if not messages:
            return False
        process.begin_work(messages, now_ms)
        try:
            consume_context = ConsumeContext(process.queue)
            result = await self._listener(
                as_subscribed(context.group, messages), consume_context
            )
            succeeded = result is ConsumeResult.SUCCESS
            context.statistics_of(process.queue.topic).consumed(
                now_ms,
                len(messages) if succeeded else 0,
                0 if succeeded else len(messages),
                (self._clock.monotonic() - began) * 1000,
            )
            if process.dropped:
                return False
            if succeeded or await self._gave_up(messages):
                self._commit(process)
                return True
            self._suspend(process, messages, consume_context)
            return False
        finally:
            process.end_work(messages)

    def _commit(self, process: ProcessQueue) -> None:
        offset = process.commit()
        if offset is not None and not process.dropped:
            self._context.offsets.update_offset(process.queue, offset)

    async def _gave_up(self, messages: list[MessageExt]) -> bool:
        """Send messages past their last attempt to the retry topic; true when all are.

        One message with attempts left keeps the whole batch back, to keep the order.
        """
        limit = self._retries.max_reconsume_times
        if any(message.reconsume_times < limit for message in messages):
            return False
        sent = [await self._retries.send_copy(message) for message in messages]
        return all(sent)

    def _suspend(
        self,
        process: ProcessQueue,
        messages: list[MessageExt],
        consume_context: ConsumeContext,
    ) -> None:
        process.make_consumable_again(
            [replace(m, reconsume_times=m.reconsume_times + 1) for m in messages]
        )
        asked = consume_context.suspend_ms
        pause_ms = self._suspend_ms if asked is None else asked
        pause_ms = min(max(pause_ms, MIN_SUSPEND_MS), MAX_SUSPEND_MS)
        self._again_after(process, pause_ms / 1000)

    def _again_after(self, process: ProcessQueue, seconds: float) -> None:
        async def again() -> None:
            await self._clock.sleep(seconds)
            self.workers.submit([process])

        self._context.instance.spawn(again())
