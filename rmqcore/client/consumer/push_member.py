"""A running push consumer: its parts put together, and the answers to its instance.

`PushConsumer` is what applications hold; this is the member that exists from its start
to its shutdown.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

from rmqcore.client.membership.group import GroupContext
from rmqcore.client.membership.process_queue import ProcessQueue
from rmqcore.client.rebalance.rules import Assigner
from rmqcore.model import ConsumeFromWhere, ConsumeType, MessageExt, MessageQueue
from rmqcore.protocol.bodies import ConsumeDirectlyResult, RunningProperty

from .concurrent import ConcurrentService
from .listener import ConsumeContext, ConsumeResult, ListenerCall
from .member import Member
from .member_options import MemberOptions
from .orderly import OrderlyService
from .push_settings import PushSettings
from .retries import Retries, as_subscribed

logger = logging.getLogger(__name__)


class PushMember(Member):
    """One group's push consumption on one client."""

    consume_type = ConsumeType.PUSH

    def __init__(
        self,
        context: GroupContext,
        options: MemberOptions,
        settings: PushSettings,
        listener: ListenerCall,
        instance_name: str,
    ) -> None:
        limits = settings.limits(context.orderly)
        super().__init__(context, options, settings.pull, limits)
        self._settings = settings
        self._listener = listener
        self._instance_name = instance_name
        self._resumed = asyncio.Event()
        self._resumed.set()
        service = OrderlyService if context.orderly else ConcurrentService
        retries = Retries(context, settings.attempts(context.orderly))
        self._service = service(context, listener, retries, settings)

    @property
    def paused(self) -> bool:
        """Whether pulling is paused, for all queues."""
        return not self._resumed.is_set()

    def pause(self) -> None:
        """Stop pulling; what has been pulled is still consumed."""
        self._resumed.clear()

    def resume(self) -> None:
        """Pull again."""
        self._resumed.set()

    def switch(self, assigner: Assigner) -> None:
        """Divide by another strategy from now on, beginning at once."""
        self._rebalancer.assigner = assigner
        self.rebalance_soon()

    async def close(self) -> None:
        """Let listeners finish, persist, release; then end everything."""
        self._resumed.set()
        await super().close()
        await self._service.workers.close()

    async def abandon(self) -> None:
        """End everything at once, without persisting or releasing anything.

        For a member that has found out that it is no longer the owner: whatever it
        would write now belongs to another member.
        """
        self._open = False
        await self._rebalancer.abandon()
        await self._service.workers.close()

    # For the instance

    async def expire_stuck(self) -> None:
        """Give up messages that have been consumed for too long."""
        await self._service.expire_stuck()

    async def reset_offsets(
        self, topic: str, offsets: Mapping[MessageQueue, int]
    ) -> None:
        """Continue from these offsets, forward or back."""
        logger.info("group=%s topic=%s offsets are reset", self.group, topic)
        mine = {queue: o for queue, o in offsets.items() if queue.topic == topic}
        await self._rebalancer.restart_at(mine)

    async def consume_directly(
        self, messages: Sequence[MessageExt]
    ) -> ConsumeDirectlyResult:
        """Have the listener consume messages that were not pulled."""
        clock = self.context.instance.clock
        began = clock.monotonic()
        first = messages[0]
        queue = MessageQueue(first.topic, first.broker_name, first.queue_id)
        result = await self._listener(
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
        """Start to pull a queue."""
        self._begin_pulling(
            process,
            offset,
            deliver=self._service.deliver,
            restart=self._rebalancer.restart_at,
            resumed=self._resumed,
        )

    # Private

    def _properties(self) -> dict[str, str]:
        properties = self._settings.properties(self.context.orderly)
        properties[RunningProperty.THREADPOOL_CORE_SIZE] = str(self._settings.threads)
        properties["instanceName"] = self._instance_name
        properties["clientIP"] = self.context.client_id.partition("@")[0]
        if self._start.where is ConsumeFromWhere.TIMESTAMP:
            properties["consumeTimestamp"] = str(self._start.timestamp_ms)
        return properties


def _direct_result(result: ConsumeResult | None) -> str:
    match result:
        case ConsumeResult.SUCCESS:
            return "CR_SUCCESS"
        case None:
            return "CR_THROW_EXCEPTION"
        case _:
            return "CR_LATER"
