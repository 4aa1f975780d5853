"""A static topic of Apache's, which moves from one broker to the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from rmqcore.admin import Admin
from rmqcore.client import (
    ConsumeContext,
    ConsumeResult,
    InstanceRegistry,
    LitePullConsumer,
    Producer,
    PushConsumer,
)
from rmqcore.model import Message, MessageExt
from rmqcore.model.snapshot import GroupSnapshot, OwnerSource
from tests.support.apache import ApacheCluster
from tests.support.java_driver import AdminTool

from .mqadmin_tool import Mqadmin
from .sides import FIRST, until

pytestmark = pytest.mark.interop

QUEUES = 4
LOGICAL = "__syslo__global__"
BLOCK = 10_000
"""A move begins at the next multiple of this."""


@pytest.fixture
def mqadmin(apache: ApacheCluster, tmp_path: Path, version: str):
    with AdminTool(tmp_path / "tool", version=version) as running:
        yield Mqadmin(running, apache.nameserver, {})


@pytest.fixture(autouse=True)
def short_pulls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let members learn of a move soon: when the broker left ends the pull it holds."""
    monkeypatch.setattr("rmqcore.client.consumer.pulling.SUSPEND_MS", 1_000)


@pytest.fixture
async def producer(apache: ApacheCluster) -> AsyncIterator[Producer]:
    made = Producer(
        apache.nameserver, group="static", client_ip="ip", registry=InstanceRegistry()
    )
    await made.start()
    yield made
    await made.shutdown()


class Heard:
    """A member of a group, and the bodies that it was given."""

    def __init__(self, nameserver: str, topic: str) -> None:
        self.bodies: list[str] = []
        self._nameserver, self._topic = nameserver, topic

    async def listen(
        self, messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        self.bodies += (message.body.decode() for message in messages)
        return ConsumeResult.SUCCESS

    async def start(self) -> PushConsumer:
        consumer = PushConsumer(
            self._nameserver,
            group=self._topic,
            listener=self.listen,
            client_ip="ip",
            consume_from_where=FIRST,
            registry=InstanceRegistry(),
        )
        consumer.subscribe(self._topic, "*")
        await consumer.start()
        return consumer


async def send(producer: Producer, topic: str, bodies: Sequence[str]) -> None:
    for at, body in enumerate(bodies):
        (*queues,) = await producer.publish_queues(topic)
        await producer.send(
            Message.of(topic, body.encode(), keys=[body]), queue=queues[at % QUEUES]
        )


async def look(admin: Admin, name: str) -> GroupSnapshot:
    return (await admin.snapshot(running_info=True)).groups[name]


async def test_clients_and_snapshot_follow_a_static_topic_across_a_move(
    admin: Admin,
    apache: ApacheCluster,
    mqadmin: Mqadmin,
    producer: Producer,
    name: str,
) -> None:
    await asyncio.to_thread(
        mqadmin.say,
        "updateStaticTopic",
        "-t",
        name,
        "-qn",
        str(QUEUES),
        "-b",
        "broker-a",
    )
    before, after = ([f"{when}{n}" for n in range(12)] for when in ("a", "b"))
    heard = Heard(apache.nameserver, name)
    consumer = await heard.start()
    await send(producer, name, before)
    await until(lambda: set(heard.bodies) >= set(before))

    held = await look(admin, name)
    assert held.queues.keys == tuple((name, LOGICAL, n) for n in range(QUEUES))
    assert held.owners.by_row == held.inferred.by_row
    assert set(held.owners.sources) == {OwnerSource.REPORTED}
    assert all(len(owners) == 1 for owners in held.owners.by_row)
    await consumer.shutdown()

    await asyncio.to_thread(
        mqadmin.say, "remappingStaticTopic", "-t", name, "-b", "broker-b"
    )
    # The producer has the old route, and has to find out.
    await send(producer, name, after)
    seen = await admin.snapshot()
    topic, queues = seen.topics[name], seen.groups[name].queues
    assert list(topic.min) == [0] * QUEUES
    assert list(topic.max) == [BLOCK + 3] * QUEUES
    assert [[each.item.broker_name for each in row] for row in topic.pieces] == [
        ["broker-a", "broker-b"]
    ] * QUEUES
    assert list(queues.committed) == [3] * QUEUES, heard.bodies
    assert list(queues.lag) == [3] * QUEUES
    places = await found_at(admin, name, after[0])
    assert places == [("broker-b", 0, 0)]
    assert await found_at(admin, name, before[0]) == [("broker-a", 0, 0)]

    consumer = await heard.start()
    await until(lambda: set(heard.bodies) >= set(before + after))
    assert sorted(heard.bodies) == sorted(before + after)

    # This time a member is there; its pulls are held by the broker that is left.
    await asyncio.to_thread(
        mqadmin.say, "remappingStaticTopic", "-t", name, "-b", "broker-a"
    )
    back = [f"c{n}" for n in range(12)]
    everything = sorted(before + after + back)
    await send(producer, name, back)
    await until(lambda: len(heard.bodies) >= len(everything))
    assert sorted(heard.bodies) == everything
    await consumer.shutdown()
    done = (await admin.snapshot()).groups[name].queues
    assert list(done.committed) == [2 * BLOCK + 3] * QUEUES
    assert list(done.lag) == [0] * QUEUES

    assert sorted(await polled(apache, name, len(everything))) == everything


async def found_at(admin: Admin, topic: str, key: str) -> list[tuple[str, int, int]]:
    """Return where messages with a key are, as the queues that hold them say too."""
    places = []
    for each in (await admin.messages_by_key(topic, key)).messages:
        for span in (await admin.queue_spans(topic)).spans:
            if (span.queue.broker_name, span.queue.queue_id) == (
                each.broker_name,
                each.queue_id,
            ):
                pulled = await admin.messages_at(span, each.queue_offset, 1)
                assert [found.keys for found in pulled.messages] == [(key,)]
                places.append((each.broker_name, each.queue_id, each.queue_offset))
    return places


async def polled(apache: ApacheCluster, topic: str, count: int) -> list[str]:
    """Read everything from the beginning, of all places, with a lite consumer."""
    consumer = LitePullConsumer(
        apache.nameserver,
        group=f"{topic}lite",
        client_ip="ip",
        registry=InstanceRegistry(),
        auto_commit=False,
    )
    await consumer.start()
    queues = await consumer.fetch_message_queues(topic)
    assert [(each.broker_name, each.queue_id) for each in queues] == [
        (LOGICAL, n) for n in range(QUEUES)
    ]
    await consumer.assign(queues)
    for queue in queues:
        await consumer.seek_to_begin(queue)
    bodies: list[str] = []

    async def poll() -> bool:
        bodies.extend(each.body.decode() for each in await consumer.poll(1.0))
        return len(bodies) >= count

    async with asyncio.timeout(120):
        while not await poll():
            pass
    await consumer.shutdown()
    return bodies
