"""Clients for tests, what they were given, and waiting for what comes over sockets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rmqcore.client import (
    AllocationChanged,
    ConsumeContext,
    ConsumeResult,
    Event,
    InstanceRegistry,
    Producer,
    PushConsumer,
)
from rmqcore.model import Message, MessageExt, MessageQueue
from rmqcore.protocol.command import RemotingCommand
from tests.support.waiting import until

FIRST = "CONSUME_FROM_FIRST_OFFSET"


@dataclass
class Heard:
    """A listener that remembers, and answers as told."""

    answer: ConsumeResult = ConsumeResult.SUCCESS
    messages: list[MessageExt] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    before: Callable[[Sequence[MessageExt]], Awaitable[object]] | None = None

    async def __call__(
        self, messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        if self.before is not None:
            await self.before(messages)
        self.messages.extend(messages)
        return self.answer

    @property
    def bodies(self) -> list[str]:
        """The bodies, in the order heard."""
        return [message.body.decode() for message in self.messages]

    def allocations(self, topic: str = "T") -> list[tuple[MessageQueue, ...]]:
        """The parts of a topic that were told, in order."""
        return [
            event.queues
            for event in self.events
            if isinstance(event, AllocationChanged) and event.topic == topic
        ]


class Refused:
    """A hook after which brokers do not know the requests of these codes."""

    def __init__(self, *codes: int) -> None:
        self.codes = set(codes)
        self.count = 0

    def __call__(self, address: str, command: RemotingCommand) -> None:
        if command.code in self.codes:
            self.count += 1
            command.code = 9999


class Clients:
    """Makes clients as if each ran in a process of its own."""

    def __init__(self, nameserver: str) -> None:
        self.nameserver = nameserver
        self._made: list[PushConsumer | Producer] = []

    async def producer(self, **options: Any) -> Producer:
        """Return a started producer."""
        options.setdefault("registry", InstanceRegistry())
        producer = Producer(self.nameserver, group="P", client_ip="ip", **options)
        self._made.append(producer)
        await producer.start()
        return producer

    def consumer(
        self, heard: Heard, name: str = "c1", *, topic: str = "T", **options: Any
    ) -> PushConsumer:
        """Return a consumer of group G that has not been started."""
        options.setdefault("registry", InstanceRegistry())
        options.setdefault("group", "G")
        options.setdefault("consume_from_where", FIRST)
        options.setdefault("listener", heard)
        options.setdefault("on_event", heard.events.append)
        # A test runs the timers it wants; real ones would fire in between.
        options.setdefault("timers", "external")
        tags = options.pop("tags", "*")
        consumer = PushConsumer(
            self.nameserver,
            instance_name=name,
            client_ip="ip",
            **options,
        )
        consumer.subscribe(topic, tags)
        self._made.append(consumer)
        return consumer

    async def started(self, heard: Heard, name: str = "c1", **options: Any) -> Any:
        """Return a consumer that holds what its first rebalance gave it."""
        consumer = self.consumer(heard, name, **options)
        await consumer.start()
        topic = options.get("topic", "T")
        await until(lambda: heard.allocations(topic), "the first allocation")
        return consumer

    async def shut_down(self) -> None:
        """Shut every client down that still runs."""
        for client in self._made:
            await client.shutdown()


async def send(
    producer: Producer, bodies: Iterable[object], topic: str = "T", **of: Any
) -> None:
    """Send one message for each body."""
    for body in bodies:
        await producer.send(Message.of(topic, str(body).encode(), **of))


def queue_ids(consumer: PushConsumer, topic: str = "T") -> list[int]:
    """Return the ids of the queues of a topic that a consumer holds."""
    return [queue.queue_id for queue in consumer.queues if queue.topic == topic]
