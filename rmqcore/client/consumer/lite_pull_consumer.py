"""The lite pull consumer: the application asks for messages when it wants them (C10).

It either subscribes to topics and shares their queues with its group by rebalancing, or
assigns itself queues by hand, without a group's division; not both. `poll` gives
messages that have been pulled ahead. Progress is committed by hand, or by `poll` itself
every five seconds, for messages that earlier polls returned.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final, Unpack

from rmqcore.client.membership.group import GroupContext
from rmqcore.client.membership.process_queue import QueueLimits
from rmqcore.errors import ArgumentError, StateError
from rmqcore.model import (
    MessageExt,
    MessageQueue,
    sorted_queues,
)
from rmqcore.offsets import ReadOffsetType

from .group_consumer import GroupConsumer
from .lite_member import LiteMember
from .member_options import ConsumerOptions
from .pulling import PullSettings

LITE_BATCH: Final = 10
POLL_TIMEOUT_S: Final = 5.0
AUTO_COMMIT_S: Final = 5.0
LITE_PULL: Final = PullSettings(batch_size=LITE_BATCH, lite=True)


class LitePullConsumer(GroupConsumer[LiteMember]):
    """Polls messages of subscribed topics or assigned queues, on one event loop.

    When it leaves with auto commit, all polled messages count as consumed. The other
    options are those of `ConsumerOptions`.
    """

    def __init__(
        self,
        nameservers: str | Iterable[str],
        *,
        group: str,
        auto_commit: bool = True,
        auto_commit_s: float = AUTO_COMMIT_S,
        pull: PullSettings = LITE_PULL,
        limits: QueueLimits | None = None,
        **options: Unpack[ConsumerOptions],
    ) -> None:
        super().__init__(nameservers, group, options)
        self._auto_commit = auto_commit
        self._auto_commit_s = auto_commit_s
        self._commit_due = 0.0
        self._pull = pull
        self._limits = limits or QueueLimits()
        self._assigned: tuple[MessageQueue, ...] | None = None

    # Life

    def subscribe(self, topic: str, expression: str = "*") -> None:
        """Share a topic's queues with the group; also while running."""
        if self._assigned is not None:
            raise StateError("queues have been assigned: topics cannot be subscribed")
        super().subscribe(topic, expression)

    async def assign(self, queues: Iterable[MessageQueue]) -> None:
        """Take exactly these queues, whoever else has them; also while running."""
        if self._wanted:
            raise StateError("topics have been subscribed: queues cannot be assigned")
        self._assigned = tuple(queues)
        if self._member is not None:
            await self._take_assigned(self._member)

    async def start(self) -> None:
        """Join the cluster; raises the same errors as `PushConsumer.start`."""
        await super().start()
        if self._assigned is not None:
            await self._take_assigned(self._running())

    # Polling

    async def poll(
        self, timeout_s: float = POLL_TIMEOUT_S, max_messages: int = LITE_BATCH
    ) -> list[MessageExt]:
        """Return messages of one queue, in order; empty when none came in time."""
        member = self._running()
        self._commit_when_due(member)
        try:
            async with asyncio.timeout(timeout_s):
                while not (taken := member.take(max_messages)):
                    await member.filled()
        except TimeoutError:
            return []
        return taken

    async def commit(self) -> None:
        """Persist the positions that polling has reached."""
        member = self._running()
        await member.context.offsets.persist_all(member.commit())
        member.context.tell_commits(member.context.held)

    async def committed(self, queue: MessageQueue) -> int | None:
        """Return the group's committed offset of a queue, None when there is none."""
        member = self._running()
        return await member.context.offsets.read_offset(
            queue, ReadOffsetType.MEMORY_FIRST_THEN_STORE
        )

    def seek(self, queue: MessageQueue, offset: int) -> None:
        """Continue from an offset of a queue that is held."""
        if offset < 0:
            raise ArgumentError(f"offset is {offset}, must not be negative")
        self._running().seek(queue, offset)

    async def seek_to_begin(self, queue: MessageQueue) -> None:
        """Continue from the oldest message that the broker has."""
        member, instance = self._running(), self.instance
        offset = await instance.at_master(
            queue, lambda address: instance.calls.min_offset(address, queue)
        )
        member.seek(queue, offset)

    async def seek_to_end(self, queue: MessageQueue) -> None:
        """Skip every message that is there now."""
        member, instance = self._running(), self.instance
        offset = await instance.at_master(
            queue, lambda address: instance.calls.max_offset(address, queue)
        )
        member.seek(queue, offset)

    def pause(self, queues: Iterable[MessageQueue]) -> None:
        """Stop pulling these queues."""
        self._running().pause(queues)

    def resume(self, queues: Iterable[MessageQueue]) -> None:
        """Pull these queues again."""
        self._running().resume(queues)

    async def fetch_message_queues(self, topic: str) -> list[MessageQueue]:
        """Return the readable queues of a topic; empty when it does not exist."""
        instance = self.instance
        await instance.fetch_route(topic)
        return sorted_queues(instance.routes.subscribe_queues(topic) or [])

    async def offset_for_timestamp(self, queue: MessageQueue, time_ms: int) -> int:
        """Return the offset of the first message stored at or after a time."""
        instance = self.instance
        return await instance.at_master(
            queue,
            lambda address: instance.calls.search_offset(address, queue, time_ms),
        )

    # Private

    def _make_member(self, context: GroupContext) -> LiteMember:
        return LiteMember(
            context,
            self._options,
            self._pull,
            self._limits,
            assigns=self._assigned is not None,
            auto_commit=self._auto_commit,
        )

    async def _take_assigned(self, member: LiteMember) -> None:
        instance = member.context.instance
        queues = self._assigned or ()
        for topic in {queue.topic for queue in queues}:
            await instance.fetch_route(topic)
        await instance.heartbeat()
        await member.assign(queues)

    def _commit_when_due(self, member: LiteMember) -> None:
        now = member.context.instance.clock.monotonic()
        if self._auto_commit and now >= self._commit_due:
            self._commit_due = now + self._auto_commit_s
            member.commit()
