"""The push consumer: subscribes topics for a group and calls a listener with messages.

It joins the group when started, takes its part of the queues with every rebalance,
pulls them, and keeps the group's progress. Shut down, it lets listeners finish what
they are at, persists how far they came and tells the brokers, so that the other members
take over at once: nothing is lost, and only what was pulled and not begun comes again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Unpack

from rmqcore.allocation import DEFAULT_STRATEGY, AllocateStrategy
from rmqcore.client.instance.client_instance import ClientInstance
from rmqcore.client.instance.client_spec import ClientOptions, ClientSpec
from rmqcore.client.membership.events import EventCallback
from rmqcore.errors import ArgumentError, StateError
from rmqcore.model import (
    ConsumeFromWhere,
    MessageModel,
    MessageQueue,
    sorted_queues,
)
from rmqcore.model.topic import retry_topic
from rmqcore.protocol.tags import parse_tag_expression

from .listener import Listener, ListenerCall, is_async
from .listener_threads import ListenerThreads
from .member_options import MemberOptions
from .push_member import PushMember, PushSpec
from .push_settings import PushSettings


class PushConsumer:
    """A member of a consumer group. Belongs to one event loop.

    `blocking` says that a plain listener may block and runs in threads; False runs it
    on the loop. `on_event` is told what changes, see `events`.
    """

    def __init__(
        self,
        nameservers: str | Iterable[str],
        *,
        group: str,
        listener: Listener,
        strategy: str | AllocateStrategy = DEFAULT_STRATEGY,
        strategy_options: Mapping[str, Any] | None = None,
        message_model: MessageModel | str = MessageModel.CLUSTERING,
        consume_from_where: ConsumeFromWhere | str = ConsumeFromWhere.LAST_OFFSET,
        consume_timestamp_ms: int | None = None,
        orderly: bool = False,
        blocking: bool = True,
        settings: PushSettings | None = None,
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
        # A broadcasting member keeps its name, or it would not find its file (A4).
        is_broadcasting = self._options.message_model is MessageModel.BROADCASTING
        self._client = ClientSpec.of(nameservers, client, keep_default=is_broadcasting)
        self._orderly = orderly
        self._listener = listener
        self._settings = settings or PushSettings()
        self._blocking = blocking and not is_async(listener)
        self._wanted: dict[str, str] = {}
        self._instance: ClientInstance | None = None
        self._member: PushMember | None = None
        self._threads: ListenerThreads | None = None

    @property
    def group(self) -> str:
        """The group it is a member of."""
        return self._options.group

    @property
    def client_id(self) -> str:
        """The client id, by which brokers and other members know it."""
        return self._client.client_id

    # Life

    def subscribe(self, topic: str, expression: str = "*") -> None:
        """Subscribe a topic: all of it, or tags such as `TagA || TagB`.

        On a running consumer it takes effect at once. A group's members must agree on
        their subscriptions (E3, E6).
        """
        if not topic:
            raise ArgumentError("a subscription needs a topic, got an empty one")
        parse_tag_expression(topic, expression)
        self._wanted[topic] = expression
        if self._member is not None:
            context = self._member.context
            context.subscriptions.add(topic, expression, context.now_ms())
            context.instance.spawn(self._subscribed(topic))

    def unsubscribe(self, topic: str) -> None:
        """Give a topic up; its queues are released with the next rebalance."""
        self._wanted.pop(topic, None)
        if self._member is not None:
            self._member.context.subscriptions.remove(topic)
            self._member.rebalance_soon()

    async def start(self) -> None:
        """Join the group; returns when brokers know of us, before the first rebalance.

        Raises `StateError` when it, or its group on this client, has been started;
        `ConnectError` when no name server answers; `StoreError` when a broadcasting
        member's offsets cannot be read.
        """
        if self._member is not None:
            raise StateError(f"consumer of group {self.group} has been started")
        instance = self._client.acquire()
        try:
            member = await self._make_member(instance)
            await instance.add_member(member)
        except BaseException:
            self._end_threads()
            await self._client.release(instance)
            raise
        self._instance, self._member = instance, member
        member.open()

    async def shutdown(self) -> None:
        """Leave the group, losing nothing. May be called twice."""
        member, instance = self._leaving()
        if member is None or instance is None:
            return
        try:
            await member.close()
            await instance.remove_member(self.group)
        finally:
            await self._client.release(instance)
            self._end_threads()

    async def abandon(self) -> None:
        """Leave without writing anything, for a member that is not the owner any more.

        Brokers notice by the closed connection.
        """
        member, instance = self._leaving()
        if member is None or instance is None:
            return
        instance.members.pop(self.group, None)
        await member.abandon()
        await self._client.release(instance)
        self._end_threads()

    async def __aenter__(self) -> PushConsumer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.shutdown()

    # While it runs

    @property
    def instance(self) -> ClientInstance:
        """The client instance; raises `StateError` when not running."""
        if self._instance is None:
            raise StateError(f"consumer of group {self.group} is not running")
        return self._instance

    @property
    def queues(self) -> list[MessageQueue]:
        """The queues held now, sorted; empty when not running."""
        return sorted_queues(self._member.context.held) if self._member else []

    @property
    def paused(self) -> bool:
        """True while pulling is paused."""
        return self._member is not None and self._member.paused

    def pause(self) -> None:
        """Stop pulling; what has been pulled is still consumed."""
        self._running().pause()

    def resume(self) -> None:
        """Pull again."""
        self._running().resume()

    async def rebalance(self) -> bool:
        """Rebalance now; false when something has to be tried again."""
        return await self._running().rebalance()

    def switch_strategy(
        self,
        strategy: str | AllocateStrategy,
        strategy_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Divide by another strategy from now on.

        A running consumer rebalances at once and stays a member all the while: only
        queues that the two strategies give to different members change hands. Members
        that have not switched yet divide by the old one, so queues may be held twice,
        or by nobody, until all have. Raises `ArgumentError` for a strategy or options
        that cannot be, and then nothing changes.
        """
        self._options = self._options.with_strategy(strategy, strategy_options)
        if self._member is not None:
            self._member.switch(self._options.assigner(self.client_id))

    # Private

    async def _make_member(self, instance: ClientInstance) -> PushMember:
        context = self._options.context(instance, orderly=self._orderly)
        await context.offsets.load()
        for topic, expression in self._wanted.items():
            context.subscriptions.add(topic, expression, context.now_ms())
        if context.message_model is MessageModel.CLUSTERING:
            # What fails comes again under the group's own retry topic.
            context.subscriptions.add(retry_topic(self.group), "*", context.now_ms())
        if self._blocking:
            self._threads = ListenerThreads(
                self._settings.threads, f"consume-{self.group}"
            )
        spec = PushSpec(
            self._settings,
            self._options.start_position(context.now_ms()),
            self._options.assigner(self.client_id),
            ListenerCall(self.group, self._listener, self._threads),
            self._client.instance_name,
        )
        return PushMember(context, spec)

    async def _subscribed(self, topic: str) -> None:
        await self.instance.fetch_route(topic)
        await self.instance.heartbeat()
        self._running().rebalance_soon()

    def _running(self) -> PushMember:
        if self._member is None:
            raise StateError(f"consumer of group {self.group} is not running")
        return self._member

    def _leaving(self) -> tuple[PushMember | None, ClientInstance | None]:
        member, instance = self._member, self._instance
        self._member = self._instance = None
        return member, instance

    def _end_threads(self) -> None:
        if self._threads is not None:
            self._threads.close()
            self._threads = None
