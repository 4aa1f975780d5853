"""Both kinds of cluster under one name: an Apache RocketMQ, and ours.

What must hold between Java's and our clients must hold on either; one JVM of Java
clients serves both.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from rmqcore.admin import Admin, Patience
from rmqcore.client import (
    ConsumeContext,
    ConsumeResult,
    InstanceRegistry,
    PushConsumer,
)
from rmqcore.model import MessageExt, MessageQueue
from tests.support.java_driver import JavaDriver
from tests.support.java_members import AT_REST_S, member_lists
from tests.support.waiting import pause_after, until_seen

PATIENT: Final = Patience(timeout_s=20, grace_s=20, deadline_s=60)
"""For machines where a cold JVM shares two cores with the tests."""

OUR_IP: Final = "10.9.9.9"
FIRST: Final = "CONSUME_FROM_FIRST_OFFSET"


@dataclass(frozen=True, slots=True)
class Side:
    """A cluster, and the Java clients beside it."""

    nameserver: str
    java: JavaDriver

    @asynccontextmanager
    async def admin(self) -> AsyncIterator[Admin]:
        """Our admin client, attached."""
        async with Admin(self.nameserver, timeout=20, patience=PATIENT) as client:
            yield client

    async def create_topic(self, name: str, queues: int) -> None:
        """Create a topic with so many queues on every broker."""
        async with self.admin() as admin:
            await admin.create_topic(name, queues)

    async def start_java(self, name: str, **options: object) -> str:
        """Start a Java consumer; return its client id."""
        return await asyncio.to_thread(
            self.java.start_consumer, name, nameserver=self.nameserver, **options
        )

    async def stop_java(self, name: str) -> None:
        """Stop a Java consumer."""
        await asyncio.to_thread(self.java.stop_consumer, name)

    async def produce_java(self, topic: str, count: int, **options: object) -> Any:
        """Send with Java's producer; return broker, queue id and offset of each."""
        return await asyncio.to_thread(
            self.java.produce, topic, count, nameserver=self.nameserver, **options
        )

    async def member_lists(self, group: str) -> str:
        """Return whom each broker lists as the group's members, as text."""
        return await member_lists(self.nameserver, group)

    def java_queues(self, name: str) -> set[MessageQueue]:
        """Return what a Java consumer held when that last changed."""
        return {MessageQueue(*queue) for queue in self.java.queues(name)}

    def java_bodies(self, name: str) -> list[str]:
        """Return what a Java consumer was given, in order."""
        return [message["body"] for message in self.java.messages(name)]


@dataclass
class Ours:
    """One of our consumers in this process, as if it had one of its own."""

    consumer: PushConsumer
    messages: list[MessageExt] = field(default_factory=list)

    @property
    def bodies(self) -> list[str]:
        """What it was given, in order."""
        return [message.body.decode() for message in self.messages]

    @property
    def queues(self) -> set[MessageQueue]:
        """What it holds now, retry topics left out."""
        return {q for q in self.consumer.queues if not q.topic.startswith("%RETRY%")}


@asynccontextmanager
async def our_member(
    side: Side, name: str, *, group: str, topic: str, **options: Any
) -> AsyncIterator[Ours]:
    """Run one of our members; its client id is `10.9.9.9@name`."""

    async def listener(
        messages: list[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        ours.messages.extend(messages)
        return ConsumeResult.SUCCESS

    options.setdefault("consume_from_where", FIRST)
    consumer = PushConsumer(
        side.nameserver,
        group=group,
        listener=listener,
        instance_name=name,
        client_ip=OUR_IP,
        registry=InstanceRegistry(),
        **options,
    )
    ours = Ours(consumer)
    consumer.subscribe(topic)
    async with consumer:
        yield ours


until_at_rest = partial(until_seen, seconds=AT_REST_S)
"""As `until_seen`, with the patience that Java's members may need."""


async def until(
    condition: Any,
    what: Any = None,
    *,
    explain: Callable[[], Awaitable[object]] | None = None,
) -> None:
    """Return when the condition holds.

    Fail when Java's members must long be at rest, saying what was seen, and what
    `explain` then tells.
    """
    try:
        began = time.monotonic()
        async with asyncio.timeout(AT_REST_S):
            while not condition():
                await asyncio.sleep(pause_after(began))
    except TimeoutError:
        seen = what() if what else condition
        why = f"; {await explain()}" if explain else ""
        raise AssertionError(f"never came true: {seen}{why}") from None
