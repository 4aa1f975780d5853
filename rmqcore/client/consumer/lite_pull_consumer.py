"""The lite pull consumer: the application asks for messages when it wants them (C10).

It either subscribes topics and shares their queues with its group by rebalancing, or
assigns itself queues by hand, without a group's division; not both. `poll` gives
messages that have been pulled ahead. Progress is committed by hand, or by `poll` itself
every five seconds, for what earlier polls gave out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Unpack

from rmqcore.allocation import DEFAULT_STRATEGY, AllocateStrategy
from rmqcore.client.instance.client_instance import ClientInstance
from rmqcore.client.instance.client_spec import ClientOptions, ClientSpec
from rmqcore.client.membership.events import EventCallback
from rmqcore.client.membership.process_queue import QueueLimits
from rmqcore.errors import ArgumentError, StateError
from rmqcore.model import (
    ConsumeFromWhere,
    MessageExt,
    MessageModel,
    MessageQueue,
    sorted_queues,
)
from rmqcore.offsets import ReadOffsetType
from rmqcore.protocol.tags import parse_tag_expression

from .lite_member import LiteMember, LiteSpec
from .member_options import MemberOptions
from .pulling import PullSettings

LITE_BATCH: Final = 10
POLL_TIMEOUT_S: Final = 5.0
AUTO_COMMIT_S: Final = 5.0
LITE_PULL: Final = PullSettings(batch_size=LITE_BATCH, lite=True)


class LitePullConsumer:
    """Polls messages of subscribed topics or assigned queues, on one event loop."""

    def __init__(
        self,
        nameservers: str | Iterable[str],
        *,
        group: str,
        strategy: str | AllocateStrategy = DEFAULT_STRATEGY,
        strategy_options: Mapping[str, Any] | None = None,
        message_model: MessageModel | str = MessageModel.CLUSTERING,
        consume_from_where: ConsumeFromWhere | str = ConsumeFromWhere.LAST_OFFSET,
        consume_timestamp_ms: int | None = None,
        auto_commit: bool = True,
        auto_commit_s: float = AUTO_COMMIT_S,
        pull: PullSettings = LITE_PULL,
        limits: QueueLimits | None = None,
        offsets_dir: Path | str | None = None,
        on_event: EventCallback | None = None,
        **client: Unpack[ClientOptions],
    ) -> None:
        self._options = MemberOptions.of(
            group=group,
            strategy=strategy,
            strategy_options=strategy_options,
            message_model=message_model,
            consume_from_where=consume_from_where,
            consume_timestamp_ms=consume_timestamp_ms,
            offsets_dir=offsets_dir,
            on_event=on_event,
        )
        is_broadcasting = self._options.message_model is MessageModel.BROADCASTING
        self._client = ClientSpec.of(nameservers, client, keep_default=is_broadcasting)
        self._auto_commit = auto_commit
        self._auto_commit_s = auto_commit_s
        self._commit_due = 0.0
        self._pull = pull
        self._limits = limits or QueueLimits()
        self._wanted: dict[str, str] = {}
        self._assigned: tuple[MessageQueue, ...] | None = None
        self._instance: ClientInstance | None = None
        self._member: LiteMember | None = None

    @property
    def group(self) -> str:
        """The group whose progress is kept."""
        return self._options.group

    @property
    def client_id(self) -> str:
        """The client id, by which brokers and other members know it."""
        return self._client.client_id

    # Life

    def subscribe(self, topic: str, expression: str = "*") -> None:
        """Share a topic's queues with the group; also while running."""
        if self._assigned is not None:
            raise StateError("queues have been assigned: topics cannot be subscribed")
        if not topic:
            raise ArgumentError("a subscription needs a topic, got an empty one")
        parse_tag_expression(topic, expression)
        self._wanted[topic] = expression
        if self._member is not None:
            context = self._member.context
            context.subscriptions.add(topic, expression, context.now_ms())
            context.instance.spawn(self._subscribed(topic, self._member))

    def unsubscribe(self, topic: str) -> None:
        """Give a topic up; its queues are released with the next rebalance."""
        self._wanted.pop(topic, None)
        if self._member is not None:
            self._member.context.subscriptions.remove(topic)
            self._member.rebalance_soon()

    async def assign(self, queues: Iterable[MessageQueue]) -> None:
        """Take exactly these queues, whoever else does; also while running."""
        if self._wanted:
            raise StateError("topics have been subscribed: queues cannot be assigned")
        self._assigned = tuple(queues)
        if self._member is not None:
            await self._take_assigned(self._running()[0])

    async def start(self) -> None:
        """Join the cluster. Raises as `PushConsumer.start` does."""
        if self._member is not None:
            raise StateError(f"consumer of group {self.group} has been started")
        instance = self._client.acquire()
        try:
            member = await self._make_member(instance)
            await instance.add_member(member)
        except BaseException:
            await self._client.release(instance)
            raise
        self._instance, self._member = instance, member
        member.open()
        if self._assigned is not None:
            await self._take_assigned(member)

    async def shutdown(self) -> None:
        """Leave; auto commit counts all that was polled. May be called twice."""
        member, instance = self._member, self._instance
        self._member = self._instance = None
        if member is None or instance is None:
            return
        try:
            await member.close()
            await instance.remove_member(self.group)
        finally:
            await self._client.release(instance)

    async def __aenter__(self) -> LitePullConsumer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.shutdown()

    # Polling

    async def poll(
        self, timeout_s: float = POLL_TIMEOUT_S, max_messages: int = LITE_BATCH
    ) -> list[MessageExt]:
        """Return messages of one queue, in order; empty when none came in time."""
        member, instance = self._running()
        self._commit_when_due(member, instance)
        try:
            async with asyncio.timeout(timeout_s):
                while not (taken := member.take(max_messages)):
                    await member.filled()
        except TimeoutError:
            return []
        return taken

    async def commit(self) -> None:
        """Persist how far polling has come."""
        member, _ = self._running()
        await member.context.offsets.persist_all(member.commit())
        member.context.tell_commits(member.context.held)

    async def committed(self, queue: MessageQueue) -> int | None:
        """Return what the group has committed for a queue, None when it never did."""
        member, _ = self._running()
        return await member.context.offsets.read_offset(
            queue, ReadOffsetType.MEMORY_FIRST_THEN_STORE
        )

    def seek(self, queue: MessageQueue, offset: int) -> None:
        """Go on from an offset of a queue that is held."""
        if offset < 0:
            raise ArgumentError(f"offset is {offset}, must not be negative")
        self._running()[0].seek(queue, offset)

    async def seek_to_begin(self, queue: MessageQueue) -> None:
        """Go on from the oldest message that the broker has."""
        member, instance = self._running()
        address = await instance.master(queue.broker_name, queue.topic)
        member.seek(queue, await instance.calls.min_offset(address, queue))

    async def seek_to_end(self, queue: MessageQueue) -> None:
        """Skip everything that is there now."""
        member, instance = self._running()
        address = await instance.master(queue.broker_name, queue.topic)
        member.seek(queue, await instance.calls.max_offset(address, queue))

    def pause(self, queues: Iterable[MessageQueue]) -> None:
        """Stop pulling these queues."""
        self._running()[0].pause(queues)

    def resume(self, queues: Iterable[MessageQueue]) -> None:
        """Pull these queues again."""
        self._running()[0].resume(queues)

    @property
    def queues(self) -> list[MessageQueue]:
        """The queues held now, sorted; empty when not running."""
        return sorted_queues(self._member.context.held) if self._member else []

    @property
    def instance(self) -> ClientInstance:
        """The client instance; raises `StateError` when not running."""
        return self._running()[1]

    async def fetch_message_queues(self, topic: str) -> list[MessageQueue]:
        """Return the readable queues of a topic; empty when it does not exist."""
        _, instance = self._running()
        await instance.fetch_route(topic)
        return sorted_queues(instance.routes.subscribe_queues(topic) or [])

    async def offset_for_timestamp(self, queue: MessageQueue, time_ms: int) -> int:
        """Return the offset of the first message stored at or after a time."""
        _, instance = self._running()
        address = await instance.master(queue.broker_name, queue.topic)
        return await instance.calls.search_offset(address, queue, time_ms)

    # Private

    async def _make_member(self, instance: ClientInstance) -> LiteMember:
        context = self._options.context(instance, orderly=False)
        await context.offsets.load()
        for topic, expression in self._wanted.items():
            context.subscriptions.add(topic, expression, context.now_ms())
        spec = LiteSpec(
            self._pull,
            self._limits,
            self._options.start_position(context.now_ms()),
            self._options.assigner(self.client_id),
            assigns=self._assigned is not None,
            auto_commit=self._auto_commit,
        )
        return LiteMember(context, spec)

    async def _subscribed(self, topic: str, member: LiteMember) -> None:
        instance = member.context.instance
        await instance.fetch_route(topic)
        await instance.heartbeat()
        member.rebalance_soon()

    async def _take_assigned(self, member: LiteMember) -> None:
        instance = self.instance
        queues = self._assigned or ()
        for topic in {queue.topic for queue in queues}:
            await instance.fetch_route(topic)
        await instance.heartbeat()
        await member.assign(queues)

    def _commit_when_due(self, member: LiteMember, instance: ClientInstance) -> None:
        now = instance.clock.monotonic()
        if self._auto_commit and now >= self._commit_due:
            self._commit_due = now + self._auto_commit_s
            member.commit()

    def _running(self) -> tuple[LiteMember, ClientInstance]:
        if self._member is None or self._instance is None:
            raise StateError(f"consumer of group {self.group} is not running")
        return self._member, self._instance
