"""A running member of a group: the common part of push and lite pull consumption.

A member divides the topics with its group, pulls the queues that it holds and answers
its instance. The two kinds decide what happens to pulled messages, and what a pause or
a reset means for them.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import ClassVar

from rmqcore.client.instance.member import GroupMember
from rmqcore.client.membership.group import GroupContext
from rmqcore.client.membership.process_queue import ProcessQueue, QueueLimits
from rmqcore.client.membership.running_info import (
    common_properties,
    offsets_of,
    running_info,
)
from rmqcore.client.rebalance.rebalancer import QueueWork, Rebalancer
from rmqcore.model import ConsumerData, ConsumeType, MessageQueue
from rmqcore.protocol.bodies import ConsumerRunningInfo

from .member_options import MemberOptions
from .pulling import Deliver, Puller, PullSettings, Restart


class Member(GroupMember, QueueWork):
    """One group's consumption on one client, from its start to its shutdown."""

    consume_type: ClassVar[ConsumeType]

    def __init__(
        self,
        context: GroupContext,
        options: MemberOptions,
        pull: PullSettings,
        limits: QueueLimits,
    ) -> None:
        self.context = context
        self._pull = pull
        self._limits = limits
        self._started_ms = context.now_ms()
        self._start = options.start_position(self._started_ms)
        self._pulls: dict[ProcessQueue, asyncio.Task[None]] = {}
        self._rebalancer = Rebalancer(
            context, options.assigner(context.client_id), self._start, self
        )
        self._open = False

    @property
    def group(self) -> str:
        """The group's name."""
        return self.context.group

    def open(self) -> None:
        """Start to take part; the first rebalance follows."""
        self._open = True
        self.rebalance_soon()

    async def close(self) -> None:
        """Persist and release everything held; no rebalance follows."""
        self._open = False
        await self._rebalancer.close()

    # For the instance

    def topics(self) -> Collection[str]:
        """Return the subscribed topics, including a retry topic."""
        return self.context.subscriptions.topics

    def consumer_data(self) -> ConsumerData:
        """Return what a heartbeat says about this member."""
        return ConsumerData(
            self.group,
            self.consume_type,
            self.context.message_model,
            self._start.where,
            self.context.subscriptions.all,
        )

    def rebalance_soon(self) -> None:
        """Rebalance at once, or right after the rebalance that is running."""
        if self._divides():
            self._rebalancer.soon()

    async def rebalance(self) -> bool:
        """Rebalance now; return False when something has to be tried again."""
        return await self._rebalancer.now() if self._divides() else True

    async def renew_locks(self) -> None:
        """Renew the brokers' locks, if queues are held under locks."""
        await self._rebalancer.renew_locks()

    async def persist_offsets(self) -> None:
        """Persist the progress of the queues held."""
        await self.context.persist_offsets()

    def offsets(self, topic: str) -> Mapping[MessageQueue, int]:
        """Return this member's own view of its progress."""
        return offsets_of(self.context, topic)

    def running_info(self, with_stacks: bool) -> ConsumerRunningInfo:
        """Return what this member is doing."""
        properties = common_properties(
            self.context,
            consume_type=self.consume_type,
            strategy=self._rebalancer.assigner.strategy,
            started_ms=self._started_ms,
        )
        properties["consumeFromWhere"] = self._start.where.value
        properties.update(self._properties())
        return running_info(self.context, properties, with_stacks=with_stacks)

    # For the rebalancer

    def end(self, process: ProcessQueue) -> None:
        """Stop pulling a queue."""
        task = self._pulls.pop(process, None)
        if task is not None:
            task.cancel()

    async def finished(self, process: ProcessQueue) -> None:
        """Wait until no listener is at work on the queue."""
        idle = asyncio.Event()
        process.when_idle(idle.set)
        await idle.wait()

    # For the two kinds

    def _divides(self) -> bool:
        """Tell whether queues come from rebalancing now."""
        return self._open

    @abstractmethod
    def _properties(self) -> dict[str, str]:
        """Return the settings that only this kind of member has, by Java's names."""

    def _begin_pulling(
        self,
        process: ProcessQueue,
        offset: int,
        *,
        deliver: Deliver,
        restart: Restart,
        resumed: asyncio.Event,
    ) -> None:
        puller = Puller(
            self.context,
            process,
            offset,
            self._pull,
            self._limits,
            deliver=deliver,
            restart=restart,
            resumed=resumed,
        )
        task = self.context.instance.spawn(puller.run())
        self._pulls[process] = task
        task.add_done_callback(lambda _: self._pulls.pop(process, None))
