"""Pulling one queue: ask, hand over what came, ask again (C2, C3, C6).

Each held queue has one puller, a task that ends when the queue is given up. It waits
while flow control, a pause or a missing lock requires it; otherwise one long poll is
under way at any time. The puller keeps the offset it asks from; the process queue keeps
the offset to commit.

By the kind of answer: when messages are found, filter by exact tag (brokers filter by
hash) and hand them over; when none are new or none match, go on from where the broker
says, and correct the progress if nothing is cached; when the offset is illegal, the
queue is given up, its progress set to what the broker says, and it comes back with the
next rebalance.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from rmqcore.client.instance.calls import PullResult, PullStatus
from rmqcore.client.membership.group import GroupContext
from rmqcore.client.membership.process_queue import ProcessQueue, QueueLimits
from rmqcore.errors import BusyError, ResponseError, RmqError
from rmqcore.model import (
    MessageExt,
    MessageModel,
    MessageQueue,
    SubscriptionData,
)
from rmqcore.model.mapping import is_logical
from rmqcore.offsets import ReadOffsetType
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.headers import PullMessageRequestHeader, PullSysFlag
from rmqcore.protocol.message import decode_records

logger = logging.getLogger(__name__)

FLOW_CONTROL_S: Final = 0.05
"""Pause before the next pull of a queue that is over its limits."""
BROKER_BUSY_S: Final = 0.02
"""Pause after the broker's own flow control (code 215)."""
AFTER_ERROR_S: Final = 1.0
WITHOUT_LOCK_S: Final = 1.0
SUSPEND_MS: Final = 15_000
"""How long a broker holds a pull that finds nothing."""
LITE_SUSPEND_MS: Final = 20_000

DEFAULT_LIMITS: Final = QueueLimits()

_NOT_KNOWN_HERE: Final = frozenset(
    (ResponseCode.SUBSCRIPTION_NOT_EXIST, ResponseCode.SUBSCRIPTION_NOT_LATEST)
)

Deliver = Callable[[ProcessQueue, list[MessageExt]], None]
Restart = Callable[[Mapping[MessageQueue, int]], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class PullSettings:
    """How a member pulls; `lite` sends the tag expression with every pull."""

    batch_size: int = 32
    batch_bytes: int = 256 * 1024
    interval_ms: int = 0
    lite: bool = False
    limits: QueueLimits = DEFAULT_LIMITS


class Puller:
    """The pulling of one queue by one member."""

    def __init__(
        self,
        context: GroupContext,
        process: ProcessQueue,
        offset: int,
        settings: PullSettings,
        limits: QueueLimits,
        *,
        deliver: Deliver,
        restart: Restart,
        resumed: asyncio.Event,
    ) -> None:
        self._context = context
        self._process = process
        self._offset = offset
        self._settings = settings
        self._limits = limits
        self._deliver = deliver
        self._restart = restart
        self._resumed = resumed
        self._broker_id = 0
        self._delayed = False
        self._took_ms = 0.0

    async def run(self) -> None:
        """Pull until the queue is given up."""
        while not self._process.ending:
            try:
                await self._turn()
            except RmqError as error:
                await self._after_error(error)

    async def _turn(self) -> None:
        process, context = self._process, self._context
        await self._resumed.wait()
        process.last_pull_ms = context.now_ms()
        if context.needs_locks and not process.locked:
            await context.instance.clock.sleep(WITHOUT_LOCK_S)
            return
        reason = process.over_limit(self._limits)
        if reason is not None:
            await self._delay(reason)
            return
        self._delayed = False
        result = await self._pull()
        if process.ending:
            return
        self._broker_id = result.suggest_broker_id
        if result.status is PullStatus.FOUND:
            self._found(result)
        elif result.status is PullStatus.OFFSET_ILLEGAL:
            self._illegal(result)
        else:
            self._nothing(result)
        if self._settings.interval_ms:
            await context.instance.clock.sleep(self._settings.interval_ms / 1000)

    async def _delay(self, reason: str) -> None:
        if not self._delayed:
            self._delayed = True
            self._context.tell_delay(self._process.queue, reason)
            logger.info(
                "group=%s queue=%s pull delayed: %s",
                self._context.group,
                self._process.queue,
                reason,
            )
        await self._context.instance.clock.sleep(FLOW_CONTROL_S)

    async def _pull(self) -> PullResult:
        context, queue = self._context, self._process.queue
        instance = context.instance
        header = await self._header(queue)
        address = instance.routes.address(queue, self._broker_id)
        began = instance.clock.monotonic()
        result = await instance.calls.pull(address, header)
        if result.status is PullStatus.FOUND:
            self._took_ms = (instance.clock.monotonic() - began) * 1000
        return result

    async def _header(self, queue: MessageQueue) -> PullMessageRequestHeader:
        context = self._context
        subscription = context.subscriptions.of(queue.topic) or SubscriptionData(
            queue.topic
        )
        commit = await self._offset_to_commit()
        flags = PullSysFlag.SUSPEND
        if commit:
            flags |= PullSysFlag.COMMIT_OFFSET
        if self._settings.lite:
            flags |= PullSysFlag.SUBSCRIPTION | PullSysFlag.LITE_PULL
        return PullMessageRequestHeader(
            consumer_group=context.group,
            topic=queue.topic,
            queue_id=queue.queue_id,
            queue_offset=self._offset,
            max_msg_nums=self._settings.batch_size,
            sys_flag=flags,
            commit_offset=commit,
            suspend_timeout_millis=LITE_SUSPEND_MS
            if self._settings.lite
            else SUSPEND_MS,
            sub_version=subscription.sub_version,
            subscription=subscription.sub_string if self._settings.lite else None,
            expression_type=subscription.expression_type,
            max_msg_bytes=self._settings.batch_bytes,
            logical_broker=queue.broker_name,
        )

    async def _offset_to_commit(self) -> int:
        """Return the offset that the pull may also commit; 0 means nothing to commit.

        A slave does not keep progress, broadcasting progress is not the broker's, and
        the lite consumer's own timer sends what it has committed. With a pull from a
        logical queue, brokers would take the offset for one of the physical queue.
        """
        context = self._context
        is_broadcasting = context.message_model is MessageModel.BROADCASTING
        if is_broadcasting or self._settings.lite or self._broker_id:
            return 0
        if is_logical(self._process.queue.broker_name):
            return 0
        known = await context.offsets.read_offset(
            self._process.queue, ReadOffsetType.READ_FROM_MEMORY
        )
        return known or 0

    def _found(self, result: PullResult) -> None:
        context, process = self._context, self._process
        self._offset = result.next_begin_offset
        pulled = decode_records(result.records, process.queue.broker_name)
        if is_logical(process.queue.broker_name):
            pulled = [_of(process.queue, each, result.offset_delta) for each in pulled]
        context.statistics_of(process.queue.topic).pulled(
            context.now_ms(), len(pulled), self._took_ms
        )
        wanted = self._wanted(pulled)
        if wanted:
            self._deliver(process, wanted)

    def _wanted(self, pulled: list[MessageExt]) -> list[MessageExt]:
        subscription = self._context.subscriptions.of(self._process.queue.topic)
        if subscription is None or not subscription.tags:
            return pulled
        tags = subscription.tags
        return [message for message in pulled if message.tags in tags]

    def _nothing(self, result: PullResult) -> None:
        self._offset = result.next_begin_offset
        if self._process.message_count == 0 and not self._settings.lite:
            self._context.offsets.update_offset(
                self._process.queue, self._offset, increase_only=True
            )

    def _illegal(self, result: PullResult) -> None:
        queue = self._process.queue
        logger.warning(
            "group=%s queue=%s offset %d is illegal, the broker says %d",
            self._context.group,
            queue,
            self._offset,
            result.next_begin_offset,
        )
        # In a task of its own: giving the queue up ends this one.
        self._process.ending = True
        self._context.instance.spawn(self._restart({queue: result.next_begin_offset}))

    async def _after_error(self, error: RmqError) -> None:
        instance, queue = self._context.instance, self._process.queue
        if isinstance(error, BusyError):
            await instance.clock.sleep(BROKER_BUSY_S)
            return
        logger.warning(
            "group=%s queue=%s pull failed: %s", self._context.group, queue, error
        )
        await instance.clock.sleep(AFTER_ERROR_S)
        if is_logical(queue.broker_name):
            await self._follow(queue)
        if isinstance(error, ResponseError) and error.code in _NOT_KNOWN_HERE:
            await instance.greet_broker_of(queue)

    async def _follow(self, queue: MessageQueue) -> None:
        """Learn where a logical queue is now: it may have moved to another broker."""
        try:
            await self._context.instance.fetch_route(queue.topic)
        except RmqError as error:
            logger.warning("topic=%s no new route: %s", queue.topic, error)


def _of(queue: MessageQueue, message: MessageExt, offset_delta: int) -> MessageExt:
    """Return a message from a physical queue as one of the logical queue."""
    return replace(
        message,
        queue_id=queue.queue_id,
        queue_offset=message.queue_offset + offset_delta,
    )
