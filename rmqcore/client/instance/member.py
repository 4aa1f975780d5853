"""The interface that a client instance needs of each group that has joined through it.

Push and lite pull consumers implement it; the instance runs their timers, routes the
brokers' requests to them and puts them into its heartbeats.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from rmqcore.model import ConsumerData, MessageExt, MessageQueue
from rmqcore.protocol.bodies import ConsumeDirectlyResult, ConsumerRunningInfo


class GroupMember(Protocol):
    """One client's membership of one consumer group."""

    @property
    def group(self) -> str:
        """The group's name; one member per group and instance."""
        ...

    def topics(self) -> Collection[str]:
        """Return the topics whose routes it needs, including its retry topic."""
        ...

    def consumer_data(self) -> ConsumerData:
        """Return what a heartbeat says about it."""
        ...

    def rebalance_soon(self) -> None:
        """Rebalance at once, or right after the rebalance that is running."""
        ...

    async def rebalance(self) -> bool:
        """Rebalance now; false when something could not be brought up to date."""
        ...

    async def renew_locks(self) -> None:
        """Renew the brokers' locks of the queues it owns."""
        ...

    async def persist_offsets(self) -> None:
        """Persist the progress of the queues it owns."""
        ...

    async def expire_stuck(self) -> None:
        """Give up messages that have been consumed for too long."""
        ...

    async def reset_offsets(
        self, topic: str, offsets: Mapping[MessageQueue, int]
    ) -> None:
        """Continue from these offsets, forward or back (220)."""
        ...

    def offsets(self, topic: str) -> Mapping[MessageQueue, int]:
        """Return its own view of its progress (221)."""
        ...

    def running_info(self, with_stacks: bool) -> ConsumerRunningInfo:
        """Return what it is doing (307)."""
        ...

    async def consume_directly(
        self, messages: Sequence[MessageExt]
    ) -> ConsumeDirectlyResult:
        """Have the listener consume messages that were not pulled (309)."""
        ...
