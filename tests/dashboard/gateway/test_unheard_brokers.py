"""What is asked on request while a broker is away: the others answer all the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from dashboard.gateway.client_info import ask_client
from dashboard.gateway.producers import ask_producers
from dashboard.gateway.topic_questions import ask_topic
from rmqcore.client import Producer
from rmqcore.cluster import LocalCluster
from rmqcore.errors import RouteError
from rmqcore.model import Message
from tests.support.cluster import (
    TOPIC,
    join,
    local_cluster,
    name_a_dead_broker,
    settings_of,
)
from tests.support.waiting import until

KILLED, HEADLESS, ALIVE = "broker-0", "broker-1", "broker-a"


@pytest.fixture
async def cluster() -> AsyncIterator[LocalCluster]:
    """A broker beside one that was just killed, and one of which a slave is left."""
    async with local_cluster(4) as running:
        name_a_dead_broker(running, KILLED)
        name_a_dead_broker(running, HEADLESS, 1)
        yield running


async def test_a_client_is_asked_through_a_broker_that_has_it(
    cluster: LocalCluster,
) -> None:
    member = await join(cluster, "one")
    await until(lambda: member.queues, "the member owns queues")
    east = settings_of(cluster)
    info = await asyncio.to_thread(ask_client, east, "billing", "10.0.0.1@one")
    with pytest.raises(RouteError, match=r"'10.0.0.1@two' connected; 127.0.0.1:1"):
        await asyncio.to_thread(ask_client, east, "billing", "10.0.0.1@two")
    await member.shutdown()
    assert {queue.broker for queue in info.queues} >= {ALIVE}


async def test_producers_and_configurations_of_the_others_are_known(
    cluster: LocalCluster,
) -> None:
    producer = Producer(cluster.nameserver_address, group="shop")
    await producer.start()
    await cluster.create_topic("sales", 1)
    await producer.send(Message.of("sales", b"1"))
    east = settings_of(cluster)
    producers = await asyncio.to_thread(ask_producers, east)
    named = await asyncio.to_thread(ask_producers, east, "shop")
    answers = await asyncio.to_thread(ask_topic, east, TOPIC)
    await producer.shutdown()
    for found in (producers, named, answers.producers):
        assert [(row.group, row.brokers) for row in found.rows] == [("shop", (ALIVE,))]
        assert "127.0.0.1:1" in found.silent[KILLED]
    assert producers.silent.keys() == {KILLED, HEADLESS}
    assert producers.silent[HEADLESS] == "no master is up"
    assert answers.configs.keys() == {ALIVE}
    assert [name for name, _error in answers.troubles] == [KILLED]
