"""A real embedded cluster with messages, shared by the tests of a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.settings import ClusterSettings
from rmqcore.admin import Admin
from rmqcore.client import ConsumeContext, ConsumeResult, Producer, PushConsumer
from rmqcore.cluster import LocalCluster
from rmqcore.loop_thread import LoopThread
from rmqcore.model import Message, MessageExt, MessageQueue

BODY = b'{"event": "paid", "card": "4111", "payer": {"phone": "139"}, "n": 1}'


class Running:
    """A cluster in a thread of its own, for tests without an event loop."""

    def __init__(self) -> None:
        self.loop = LoopThread("embedded")
        self.loop.start()
        self.cluster = LocalCluster()
        self.call(self.cluster.start())
        self.call(self.cluster.create_topic("orders", 2))
        self.consumers: list[PushConsumer] = []

    def call(self, work: Any) -> Any:
        return self.loop.call(work, 60)

    def send(self, *messages: Message, queue: int | None = None) -> None:
        """Send messages, each to the next queue, or all to one."""
        self.call(self._send(messages, queue))

    async def _send(self, messages: Sequence[Message], number: int | None) -> None:
        producer = Producer(self.cluster.nameserver_address, group="p")
        await producer.start()
        for message in messages:
            queue = (
                None
                if number is None
                else MessageQueue(message.topic, "broker-a", number)
            )
            await producer.send(message, queue=queue)
        await producer.shutdown()

    def ask(self, work: Callable[[Admin], Any]) -> Any:
        async def asked() -> Any:
            async with Admin(self.cluster.nameserver_address) as admin:
                return await work(admin)

        return self.call(asked())

    def join(self, group: str, expression: str = "*", *, fails: bool = False) -> str:
        """Let a consumer of the group start; return its client id."""

        async def listener(
            _messages: Sequence[MessageExt], _context: ConsumeContext
        ) -> ConsumeResult:
            return ConsumeResult.RECONSUME_LATER if fails else ConsumeResult.SUCCESS

        async def begin() -> str:
            consumer = PushConsumer(
                self.cluster.nameserver_address,
                group=group,
                listener=listener,
                instance_name=group,
            )
            consumer.subscribe("orders", expression)
            await consumer.start()
            self.consumers.append(consumer)
            return consumer.client_id

        return str(self.call(begin()))

    def stop(self) -> None:
        for consumer in self.consumers:
            self.call(consumer.shutdown())
        self.call(self.cluster.stop())
        self.loop.stop()


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """Twenty messages: half tagged `red`, keys `k-0` to `k-4`, bodies of JSON."""
    made = Running()
    made.send(
        *(
            Message.of(
                "orders",
                BODY,
                tags="red" if number % 2 else "blue",
                keys=[f"k-{number % 5}"],
            )
            for number in range(20)
        )
    )
    yield made
    made.stop()


@pytest.fixture
def east(running: Running, db: None, settings: Any) -> ClusterSettings:
    """The cluster as the dashboard knows it, open to writing."""
    address = running.cluster.nameserver_address
    given = ClusterSettings("east", (address,), writes=True)
    settings.ROCKETSCOPE_CLUSTERS = {"east": given}
    settings.ROCKETSCOPE_REDIS_URL = ""
    sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
    return given
