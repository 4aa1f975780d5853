"""A running push consumer: its parts put together, and what its instance asks of it.

`PushConsumer` is what applications hold; this is the member that exists from its start
to its shutdown.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from rmqcore.client.membership.group import GroupContext
from rmqcore.client.membership.process_queue import ProcessQueue
from rmqcore.client.membership.running_info import (
    common_properties,
    offsets_of,
    running_info,
)
from rmqcore.client.membership.start_position import StartPosition
from rmqcore.client.rebalance.rebalancer import Rebalancer
from rmqcore.client.rebalance.rules import Assigner
from rmqcore.model import (
    ConsumeFromWhere,
    ConsumerData,
    ConsumeType,
    MessageExt,
    MessageQueue,
)
from rmqcore.protocol.bodies import ConsumeDirectlyResult, ConsumerRunningInfo

from .concurrent import ConcurrentService
from .listener import ConsumeContext, ConsumeResult, ListenerCall
from .orderly import OrderlyService
from .pulling import Puller
from .push_settings import PushSettings
from .retries import Retries, as_subscribed

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PushSpec:
    """What a push member is made from, beside its context."""

    settings: PushSettings
    start: StartPosition
    assigner: Assigner
    listener: ListenerCall
    instance_name: str


class PushMember:
    """One group's push consumption on one client."""

    def __init__(self, context: GroupContext, spec: PushSpec) -> None:
        self.context = context
        self._spec = spec
        self._started_ms = context.now_ms()
        self._pulls: dict[ProcessQueue, asyncio.Task[None]] = {}
        self._resumed = asyncio.Event()
        self._resumed.set()
        self._service = self._make_service()
        self._rebalancer = Rebalancer(context, spec.assigner, spec.start, self)
        self._open = False

    @property
    def group(self) -> str:
        """The group's name."""
        return self.context.group

    @property
    def paused(self) -> bool:
        """True while no queue is pulled."""
        return not self._resumed.is_set()

    def open(self) -> None:
        """Begin to take part: the first rebalance follows."""
        self._open = True
        self.rebalance_soon()

    def pause(self) -> None:
        """Stop pulling; what has been pulled is still consumed."""
        self._resumed.clear()

    def resume(self) -> None:
        """Pull again."""
        self._resumed.set()

    def switch(self, assigner: Assigner) -> None:
        """Divide by another strategy from now on, beginning at once."""
        self._spec = replace(self._spec, assigner=assigner)
        self._rebalancer.assigner = assigner
        self.rebalance_soon()

    async def close(self) -> None:
        """Finish what listeners are at, persist, release; then end everything."""
        self._open = False
        self._resumed.set()
        await self._rebalancer.close()
        await self._service.close()

    async def abandon(self) -> None:
        """End everything at once, without persisting or releasing anything.

        For a member that has found out that it is not the owner any more: whatever it
        would write now belongs to somebody else.
        """
        self._open = False
        await self._rebalancer.abandon()
        await self._service.close()

    # For the instance

    def topics(self) -> Collection[str]:
        """Return the topics subscribed, the retry topic included."""
        return self.context.subscriptions.topics

    def consumer_data(self) -> ConsumerData:
        """Return what a heartbeat says of this member."""
        return ConsumerData(
            self.group,
            ConsumeType.PUSH,
            self.context.message_model,
            self._spec.start.where,
            self.context.subscriptions.all,
        )

    def rebalance_soon(self) -> None:
        """Rebalance at once, or right after the rebalance that is running."""
        if self._open:
            self._rebalancer.soon()

    async def rebalance(self) -> bool:
        """Rebalance now; false when something has to be tried again."""
        return await self._rebalancer.now() if self._open else True

    async def renew_locks(self) -> None:
        """Renew the brokers' locks."""
        await self._rebalancer.renew_locks()

    async def persist_offsets(self) -> None:
        """Persist the progress of the queues held."""
        await self.context.persist_offsets()

    async def expire_stuck(self) -> None:
        """Give up messages that have been consumed for too long."""
        await self._service.expire_stuck()

    async def reset_offsets(
        self, topic: str, offsets: Mapping[MessageQueue, int]
    ) -> None:
        """Go on from these offsets, forward or back."""
        logger.info("group=%s topic=%s offsets are reset", self.group, topic)
        mine = {queue: o for queue, o in offsets.items() if queue.topic == topic}
        await self._rebalancer.restart_at(mine)

    def offsets(self, topic: str) -> Mapping[MessageQueue, int]:
        """Return this member's own view of its progress."""
        return offsets_of(self.context, topic)

    def running_info(self, with_stacks: bool) -> ConsumerRunningInfo:
        """Return what this member is doing."""
        context, spec = self.context, self._spec
        properties = common_properties(
            context,
            consume_type=ConsumeType.PUSH,
            strategy=spec.assigner.strategy,
            threads=spec.settings.threads,
            started_ms=self._started_ms,
        )
        properties.update(spec.settings.properties(context.orderly))
        properties["consumeFromWhere"] = spec.start.where.value
        properties["instanceName"] = spec.instance_name
        properties["clientIP"] = context.client_id.partition("@")[0]
        if spec.start.where is ConsumeFromWhere.TIMESTAMP:
            properties["consumeTimestamp"] = str(spec.start.timestamp_ms)
        return running_info(context, properties, with_stacks=with_stacks)

    async def consume_directly(
        self, messages: Sequence[MessageExt]
    ) -> ConsumeDirectlyResult:
        """Let the listener consume messages that were not pulled."""
        clock = self.context.instance.clock
        began = clock.monotonic()
        first = messages[0]
        queue = MessageQueue(first.topic, first.broker_name, first.queue_id)
        result = await self._spec.listener(
            as_subscribed(self.group, list(messages)), ConsumeContext(queue)
        )
        return ConsumeDirectlyResult(
            consume_result=_direct_result(result),
            order=self.context.orderly,
            remark=None if result else "the listener failed, see the client's log",
            spent_time_mills=int((clock.monotonic() - began) * 1000),
        )

    # For the rebalancer

    def begin(self, process: ProcessQueue, offset: int) -> None:
        """Begin to pull a queue."""
        puller = Puller(
            self.context,
            process,
            offset,
            self._spec.settings.pull,
            self._spec.settings.limits(self.context.orderly),
            deliver=self._service.deliver,
            restart=self._rebalancer.restart_at,
            resumed=self._resumed,
        )
        task = self.context.instance.spawn(puller.run())
        self._pulls[process] = task
        task.add_done_callback(lambda _: self._pulls.pop(process, None))

    def end(self, process: ProcessQueue) -> None:
        """Stop pulling a queue."""
        task = self._pulls.pop(process, None)
        if task is not None:
            task.cancel()

    async def finished(self, process: ProcessQueue) -> None:
        """Return when no listener is at work on the queue."""
        await self._service.finished(process)

    def _make_service(self) -> ConcurrentService | OrderlyService:
        context, settings = self.context, self._spec.settings
        attempts = settings.attempts(context.orderly)
        retries = Retries(context, attempts)
        if context.orderly:
            return OrderlyService(
                context,
                self._spec.listener,
                retries,
                threads=settings.threads,
                batch_size=settings.batch_size,
                max_reconsume_times=attempts,
                suspend_ms=settings.suspend_ms,
            )
        return ConcurrentService(
            context,
            self._spec.listener,
            retries,
            threads=settings.threads,
            batch_size=settings.batch_size,
            consume_timeout_ms=settings.consume_timeout_ms,
        )


def _direct_result(result: ConsumeResult | None) -> str:
    match result:
        case ConsumeResult.SUCCESS:
            return "CR_SUCCESS"
        case None:
            return "CR_THROW_EXCEPTION"
        case _:
            return "CR_LATER"
