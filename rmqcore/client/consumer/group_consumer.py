"""The application's handle on a group member, before, while and after it runs.

A consumer knows what its member is made from: options, client, subscriptions. It makes
the member when started, and drops it when shut down.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic, Self, TypeVar

from rmqcore.client.instance.client_instance import ClientInstance
from rmqcore.client.instance.client_spec import ClientSpec
from rmqcore.client.membership.group import GroupContext
from rmqcore.errors import ArgumentError, StateError
from rmqcore.model import MessageModel, MessageQueue, sorted_queues
from rmqcore.protocol.tags import parse_tag_expression

from .member import Member
from .member_options import ConsumerOptions, MemberOptions

M = TypeVar("M", bound=Member)


class GroupConsumer(ABC, Generic[M]):
    """The life cycle, subscriptions and queues of push and lite pull consumers."""

    def __init__(
        self,
        nameservers: str | Iterable[str],
        group: str,
        options: ConsumerOptions,
        *,
        orderly: bool = False,
    ) -> None:
        self._options = MemberOptions.of(group, options, orderly=orderly)
        # A broadcasting member keeps its name, or it would not find its file (A4).
        is_broadcasting = self._options.message_model is MessageModel.BROADCASTING
        self._client = ClientSpec.of(nameservers, options, keep_default=is_broadcasting)
        self._wanted: dict[str, str] = {}
        self._member: M | None = None

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
        """Subscribe to a topic: all of it, or tags such as `TagA || TagB`.

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
            context.instance.spawn(self._subscribed(topic, self._member))

    def unsubscribe(self, topic: str) -> None:
        """Unsubscribe from a topic; its queues are released with the next rebalance."""
        self._wanted.pop(topic, None)
        if self._member is not None:
            self._member.context.subscriptions.remove(topic)
            self._member.rebalance_soon()

    async def start(self) -> None:
        """Join the group; return when brokers know of us, before the first rebalance.

        Raises `StateError` when it, or its group on this client, has been started;
        `ConnectError` when no name server answers; and `StoreError` when a broadcasting
        member's offsets cannot be read.
        """
        if self._member is not None:
            raise StateError(f"consumer of group {self.group} has been started")
        instance = self._client.acquire()
        try:
            context = self._options.context(instance)
            await context.offsets.load()
            for topic, expression in self._wanted.items():
                context.subscriptions.add(topic, expression, context.now_ms())
            member = self._make_member(context)
            await instance.add_member(member)
        except BaseException:
            await self._give_back(instance)
            raise
        self._member = member
        member.open()

    async def shutdown(self) -> None:
        """Leave the group, losing nothing. May be called twice."""
        member, self._member = self._member, None
        if member is None:
            return
        instance = member.context.instance
        try:
            await member.close()
            await instance.remove_member(self.group)
        finally:
            await self._give_back(instance)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.shutdown()

    # While it runs

    @property
    def instance(self) -> ClientInstance:
        """The client instance; raises `StateError` when not running."""
        return self._running().context.instance

    @property
    def queues(self) -> list[MessageQueue]:
        """The queues held now, sorted; empty when not running."""
        return sorted_queues(self._member.context.held) if self._member else []

    # For the two kinds

    @abstractmethod
    def _make_member(self, context: GroupContext) -> M:
        """Return the member that is to join."""

    async def _give_back(self, instance: ClientInstance) -> None:
        """Release what was used by a member that has left, or could not join."""
        await self._client.release(instance)

    def _running(self) -> M:
        if self._member is None:
            raise StateError(f"consumer of group {self.group} is not running")
        return self._member

    async def _subscribed(self, topic: str, member: M) -> None:
        instance = member.context.instance
        await instance.fetch_route(topic)
        await instance.heartbeat()
        member.rebalance_soon()
