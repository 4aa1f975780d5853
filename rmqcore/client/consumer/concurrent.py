"""Concurrent consumption: messages of a queue in any order, several at once (C4).

Delivered messages are cut into requests of the listener's batch size and handled by as
many workers as the member has consume threads.

The outcome of a request: success removes its messages from the process queue and moves
the progress (C5); failure in CLUSTERING sends each failed message back to its broker,
and keeps it for another local attempt where that fails; failure in BROADCASTING is
logged and the messages are dropped. Requests of a queue that was given up are not
begun, and results of its listeners after that do not count.

Cost: about four microseconds per message besides the listener.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rmqcore.client.membership.group import GroupContext
from rmqcore.client.membership.process_queue import ProcessQueue
from rmqcore.model import MessageExt, MessageModel
from rmqcore.model.topic import retry_topic

from .listener import ConsumeContext, ConsumeResult, ListenerCall
from .push_settings import PushSettings
from .retries import Retries, as_subscribed
from .service import ConsumptionService

logger = logging.getLogger(__name__)

AGAIN_AFTER_S: Final = 5.0
"""Pause before messages that could not be sent back are consumed here again."""

STUCK_DELAY_LEVEL: Final = 3
"""Messages consumed for too long are sent back with this delay level (10 s)."""


_NONE: Final[list[MessageExt]] = []


@dataclass(slots=True)
class _Request:
    process: ProcessQueue
    messages: list[MessageExt]


class ConcurrentService(ConsumptionService[_Request]):
    """The concurrent consumption of one member's messages."""

    def __init__(
        self,
        context: GroupContext,
        listener: ListenerCall,
        retries: Retries,
        settings: PushSettings,
    ) -> None:
        super().__init__(context, listener, retries, settings)
        self._consume_timeout_ms = settings.consume_timeout_ms
        self._monotonic = self._clock.monotonic
        self._now_ms = context.instance.now_ms
        self._epoch_ms = context.instance.epoch_ms
        self._update_offset = context.offsets.update_offset
        self._retry_topic = retry_topic(context.group)

    def deliver(self, process: ProcessQueue, messages: list[MessageExt]) -> None:
        """Take pulled messages into the process queue and hand them to the workers."""
        process.put_messages(messages)
        self._submit(process, messages)

    async def expire_stuck(self) -> None:
        """Send back messages at the low ends that have been consumed for too long."""
        for process in list(self._context.held.values()):
            now_ms = self._context.now_ms()
            for message in process.stuck(now_ms, self._consume_timeout_ms):
                logger.warning(
                    "group=%s queue=%s offset=%d consumed for over %d ms",
                    self._context.group,
                    process.queue,
                    message.queue_offset,
                    self._consume_timeout_ms,
                )
                if not await self._retries.send_back(message, STUCK_DELAY_LEVEL):
                    break
                if process.first_offset == message.queue_offset:
                    self._remove(process, [message], now_ms)

    def _submit(self, process: ProcessQueue, messages: list[MessageExt]) -> None:
        size = self._batch_size
        if size == 1:
            requests = [_Request(process, [message]) for message in messages]
        else:
            requests = [
                _Request(process, messages[start : start + size])
                for start in range(0, len(messages), size)
            ]
        self.workers.submit(requests)

    async def _consume(self, request: _Request, /) -> None:
        process, messages = request.process, request.messages
        if process.ending:
            return
        # One look at the clock before and one after: this runs for each message.
        monotonic, epoch_ms = self._monotonic, self._epoch_ms
        began = monotonic()
        process.begin_work(messages, int(epoch_ms + began * 1000))
        try:
            consume_context = ConsumeContext(process.queue)
            given = messages
            if messages[0].topic == self._retry_topic:
                given = as_subscribed(self._context.group, messages)
            result = await self._listener(given, consume_context)
            ended = monotonic()
            took_ms = (ended - began) * 1000
            failed = _failed(messages, result, consume_context)
            ended_ms = int(epoch_ms + ended * 1000)
            self._context.statistics_of(process.queue.topic).consumed(
                ended_ms, len(messages) - len(failed), len(failed), took_ms
            )
            if process.dropped:
                self._log_dropped(request)
            elif failed:
                await self._handle_failed(request, failed, consume_context.delay_level)
            else:
                self._remove(process, messages, ended_ms)
        finally:
            process.end_work(messages)

    def _remove(
        self, process: ProcessQueue, messages: Sequence[MessageExt], now_ms: int
    ) -> None:
        offset = process.remove(messages, now_ms)
        if offset is not None and not process.dropped:
            self._update_offset(process.queue, offset, increase_only=True)

    async def _handle_failed(
        self, request: _Request, failed: list[MessageExt], delay_level: int
    ) -> None:
        process = request.process
        if self._context.message_model is MessageModel.BROADCASTING:
            logger.warning(
                "group=%s queue=%s dropped %d messages that could not be consumed",
                self._context.group,
                process.queue,
                len(failed),
            )
            self._remove(process, request.messages, self._now_ms())
            return
        sent = await asyncio.gather(
            *(self._retries.send_back(message, delay_level) for message in failed)
        )
        kept = [message for message, ok in zip(failed, sent, strict=True) if not ok]
        kept_offsets = {message.queue_offset for message in kept}
        self._remove(
            process,
            [m for m in request.messages if m.queue_offset not in kept_offsets],
            self._now_ms(),
        )
        if kept:
            again = [replace(m, reconsume_times=m.reconsume_times + 1) for m in kept]
            self._context.instance.spawn(self._later(process, again))

    async def _later(self, process: ProcessQueue, messages: list[MessageExt]) -> None:
        await self._clock.sleep(AGAIN_AFTER_S)
        self._submit(process, messages)

    def _log_dropped(self, request: _Request) -> None:
        logger.info(
            "group=%s queue=%s given up meanwhile, %d results do not count",
            self._context.group,
            request.process.queue,
            len(request.messages),
        )


def _failed(
    messages: list[MessageExt], result: ConsumeResult | None, context: ConsumeContext
) -> list[MessageExt]:
    """Return the messages after the last one that succeeded."""
    if result is not ConsumeResult.SUCCESS:
        return messages
    if context.ack_index is None:
        return _NONE
    return messages[max(context.ack_index + 1, 0) :]
