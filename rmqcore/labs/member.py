"""A member of a lab's group: a push consumer, and the messages its listener was given.

Each member acts as a process of its own: its instance is not shared, even where two
members have one client id.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rmqcore.client import (
    ConsumeContext,
    ConsumeResult,
    Event,
    InstanceRegistry,
    PushConsumer,
)
from rmqcore.model import ConsumeFromWhere, MessageExt, MessageModel, MessageQueue
from rmqcore.timers import Timer
from rmqcore.transport import Clock

from .results import Delivery, Part

Handle: TypeAlias = Callable[[MessageExt], Awaitable[ConsumeResult]]


async def succeed(message: MessageExt) -> ConsumeResult:
    """Consume a message without doing anything."""
    return ConsumeResult.SUCCESS


@dataclass(frozen=True, slots=True)
class Role:
    """A member's identity and what it does with messages; `options` are its consumer's.

    `subscriptions` map topics to tag expressions. Without `timers`, the lab itself
    decides when periodic work is done, so that every run is the same.
    """

    name: str
    group: str
    subscriptions: Mapping[str, str]
    instance: str | None = None
    host: str = "host-1"
    handle: Handle = succeed
    timers: bool = False
    start: ConsumeFromWhere = ConsumeFromWhere.FIRST_OFFSET
    options: Mapping[str, Any] = field(default_factory=dict)


class Member:
    """One running member. `record` is told of each delivery before it is handled."""

    def __init__(
        self,
        role: Role,
        nameservers: str,
        clock: Clock,
        record: Callable[[Delivery], None],
    ) -> None:
        self.role = role
        self.name = role.name
        self.events: list[Event] = []
        self.given: list[Delivery] = []
        self._clock = clock
        self._record = record
        self.consumer = PushConsumer(
            nameservers,
            group=role.group,
            listener=self._listen,
            instance_name=role.instance or role.name,
            client_ip=role.host,
            clock=clock,
            timers="internal" if role.timers else "external",
            registry=InstanceRegistry(),
            on_event=self.events.append,
            consume_from_where=role.start,
            **role.options,
        )
        for topic, expression in role.subscriptions.items():
            self.consumer.subscribe(topic, expression)

    @property
    def broadcasts(self) -> bool:
        """Whether it reads all queues for itself, which then are not divided."""
        model = self.role.options.get("message_model")
        return model is MessageModel.BROADCASTING

    @property
    def client_id(self) -> str:
        """The client id, by which brokers know the member."""
        return self.consumer.client_id

    @property
    def bodies(self) -> list[str]:
        """The bodies given to the listener, in order."""
        return [delivery.body for delivery in self.given]

    @property
    def notices(self) -> int:
        """How often a broker has told it that its group changed (E4)."""
        return self.consumer.instance.notices[self.role.group]

    def queues(self, topic: str) -> tuple[MessageQueue, ...]:
        """Return the queues of a topic that it holds, sorted."""
        return tuple(q for q in self.consumer.queues if q.topic == topic)

    def part(self, topic: str) -> Part:
        """Return these queues with the member's name."""
        return Part(self.name, self.client_id, self.queues(topic))

    async def run_timer(self, timer: Timer) -> None:
        """Do one piece of periodic work now."""
        await self.consumer.instance.run_timer(timer)

    async def _listen(
        self, messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        (message,) = messages
        delivery = Delivery(
            self.name,
            self.client_id,
            context.queue,
            message.queue_offset,
            message.body.decode(),
            message.keys,
            message.tags,
            message.reconsume_times,
            self._clock.time_ms(),
        )
        self.given.append(delivery)
        self._record(delivery)
        return await self.role.handle(message)
