"""A real embedded cluster for tests of the dashboard, with members that consume."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from dashboard.gateway.settings import ClusterSettings
from rmqcore.client import ConsumeContext, ConsumeResult, Producer, PushConsumer
from rmqcore.cluster import LocalCluster
from rmqcore.model import Message, MessageExt, TopicConfig
from rmqcore.nameserver.routes import BrokerIdentity
from rmqcore.protocol.bodies import DataVersion

TOPIC = "orders"


async def consume(
    _messages: Sequence[MessageExt], _context: ConsumeContext
) -> ConsumeResult:
    return ConsumeResult.SUCCESS


@asynccontextmanager
async def local_cluster(
    queues: int = 16, **settings: Any
) -> AsyncIterator[LocalCluster]:
    """Run a cluster with the topic `orders`."""
    async with LocalCluster(**settings) as cluster:
        await cluster.create_topic(TOPIC, queues)
        yield cluster


def settings_of(cluster: LocalCluster, name: str = "east") -> ClusterSettings:
    """Return the settings by which the dashboard reaches a cluster and hosts there."""
    return ClusterSettings(name, (cluster.nameserver_address,), writes=True)


def name_a_dead_broker(cluster: LocalCluster, name: str, broker_id: int = 0) -> None:
    """Let the name server list a process at which nothing listens, as after a crash."""
    state = cluster.nameserver.state
    state.routes.register(
        BrokerIdentity("LocalCluster", name, broker_id, "127.0.0.1:1"),
        {topic: TopicConfig(topic, 4, 4) for topic in (TOPIC, "other")},
        DataVersion(),
        channel=object(),
        now_ms=state.clock.time_ms(),
    )


async def join(
    cluster: LocalCluster, name: str, *, group: str = "billing", **options: Any
) -> PushConsumer:
    """Start a member of a group on the topic `orders`; the caller shuts it down."""
    consumer = PushConsumer(
        cluster.nameserver_address,
        group=group,
        listener=consume,
        instance_name=name,
        client_ip="10.0.0.1",
        **options,
    )
    consumer.subscribe(TOPIC)
    await consumer.start()
    return consumer


async def produce(cluster: LocalCluster, count: int) -> None:
    """Send messages to the topic `orders`."""
    producer = Producer(cluster.nameserver_address, group="test-producer")
    await producer.start()
    for number in range(count):
        await producer.send(Message.of(TOPIC, b"%d" % number))
    await producer.shutdown()
