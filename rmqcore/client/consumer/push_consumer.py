"""The push consumer: subscribes to topics for a group and hands messages to a listener.

It joins the group when started, takes its part of the queues with every rebalance,
pulls them, and keeps the group's progress. When shut down, it lets listeners finish
their current messages, persists their progress and tells the brokers, so that the other
members take over at once: nothing is lost, and only messages that were pulled and not
begun come again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from rmqcore.allocation import AllocateStrategy
from rmqcore.client.instance.client_instance import ClientInstance
from rmqcore.client.membership.group import GroupContext
from rmqcore.model import MessageModel
from rmqcore.model.topic import retry_topic

from .group_consumer import GroupConsumer
from .listener import Listener, ListenerCall, is_async
from .listener_threads import ListenerThreads
from .member_options import ConsumerOptions
from .push_member import PushMember
from .push_settings import PushSettings


class PushConsumer(GroupConsumer[PushMember]):
    """A member of a consumer group. Belongs to one event loop.

    `blocking` means that a plain listener may block and runs in threads; False runs it
    on the loop. The other options are those of `ConsumerOptions`.
    """

    def __init__(
        self,
        nameservers: str | Iterable[str],
        *,
        group: str,
        listener: Listener,
        orderly: bool = False,
        blocking: bool = True,
        settings: PushSettings | None = None,
        **options: Unpack[ConsumerOptions],
    ) -> None:
        super().__init__(nameservers, group, options, orderly=orderly)
        self._listener = listener
        self._settings = settings or PushSettings()
        self._blocking = blocking and not is_async(listener)
        self._threads: ListenerThreads | None = None

    async def abandon(self) -> None:
        """Leave without writing anything, for a member that is no longer the owner.

        Brokers notice the closed connection.
        """
        member, self._member = self._member, None
        if member is None:
            return
        instance = member.context.instance
        instance.members.pop(self.group, None)
        await member.abandon()
        await self._give_back(instance)

    @property
    def paused(self) -> bool:
        """Whether pulling is paused."""
        return self._member is not None and self._member.paused

    def pause(self) -> None:
        """Stop pulling; what has been pulled is still consumed."""
        self._running().pause()

    def resume(self) -> None:
        """Pull again."""
        self._running().resume()

    async def rebalance(self) -> bool:
        """Rebalance now; return False when something has to be tried again."""
        return await self._running().rebalance()

    def switch_strategy(
        self,
        strategy: str | AllocateStrategy,
        strategy_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Divide by another strategy from now on.

        A running consumer rebalances at once and stays a member throughout: only queues
        that the two strategies give to different members change hands. Members that
        have not switched yet divide by the old strategy, so queues may be held twice,
        or by nobody, until all have. Raises `ArgumentError` for an invalid strategy or
        option, and then nothing changes.
        """
        self._options = self._options.with_strategy(strategy, strategy_options)
        if self._member is not None:
            self._member.switch(self._options.assigner(self.client_id))

    # Private

    def _make_member(self, context: GroupContext) -> PushMember:
        if context.message_model is MessageModel.CLUSTERING:
            # Failed messages come again under the group's own retry topic.
            context.subscriptions.add(retry_topic(self.group), "*", context.now_ms())
        if self._blocking:
            self._threads = ListenerThreads(
                self._settings.threads, f"consume-{self.group}"
            )
        return PushMember(
            context,
            self._options,
            self._settings,
            ListenerCall(self.group, self._listener, self._threads),
            self._client.instance_name,
        )

    async def _give_back(self, instance: ClientInstance) -> None:
        await super()._give_back(instance)
        if self._threads is not None:
            self._threads.close()
            self._threads = None
