"""Java's and our clients hand each other messages in every mode, on both clusters."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from rmqcore.client import (
    InstanceRegistry,
    LitePullConsumer,
    Producer,
    SendStatus,
    by_hash,
)
from rmqcore.cluster import LocalCluster
from rmqcore.model import Message, MessageQueue
from rmqcore.offsets import decode_offsets
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import SerializeType
from rmqcore.protocol.connection import Connection, Event, RequestReceived
from tests.support.java_driver import EAGER, JavaDriver

from .sides import FIRST, OUR_IP, Side, our_member, until
from .versions import OLDER_TOO

pytestmark = pytest.mark.interop

BROADCASTING = "BROADCASTING"
LONG = 6000


def numbers(bodies: Iterable[str]) -> list[int]:
    return [int(body.strip("m.")) for body in bodies]


@pytest.mark.parametrize("serialize_type", list(SerializeType))
async def test_java_receives_what_we_send_in_every_way(
    side: Side, name: str, serialize_type: SerializeType
) -> None:
    await side.create_topic(name, 2)
    await side.start_java(name, group=name, topic=name)
    producer = Producer(side.nameserver, group=name, serialize_type=serialize_type)
    async with producer:
        result = await producer.send(Message.of(name, b"m0", keys=["k0"], tags="red"))
        assert result.status is SendStatus.SEND_OK
        await (await producer.send_async(Message(name, b"m1")))
        await producer.send_oneway(Message(name, b"m2"))
        await producer.send_batch([Message(name, b"m3"), Message(name, b"m4")])
        by_key = [
            await producer.send(Message(name, b"m%d" % n), select=by_hash("key"))
            for n in (5, 6)
        ]
        assert len({result.queue for result in by_key}) == 1
        await producer.send(Message(name, b"m7" + b"." * LONG))
        await producer.send(Message.of(name, b"m8", delay_level=1))
        await until(
            lambda: sorted(numbers(side.java_bodies(name))) == list(range(9)),
            lambda: side.java_bodies(name),
        )
    (first,) = [m for m in side.java.messages(name) if m["body"] == "m0"]
    assert (first["keys"], first["tags"]) == ("k0", "red")
    assert "m7" + "." * LONG in side.java_bodies(name)


@pytest.mark.parametrize("serialize_type", list(SerializeType))
async def test_we_receive_what_java_sends_in_every_way(
    side: Side, name: str, serialize_type: SerializeType
) -> None:
    await side.create_topic(name, 2)
    options = {"group": name, "topic": name, "serialize_type": serialize_type}
    async with our_member(side, name, **options) as ours:
        await side.produce_java(name, 2, tag="red", key="k")
        await side.produce_java(name, 2, first=2, orderly=True)
        await side.produce_java(name, 1, first=4, pad=LONG)
        await side.produce_java(name, 1, first=5, delay_level=1)
        await until(lambda: len(ours.bodies) == 6, lambda: ours.bodies)
    assert sorted(numbers(ours.bodies)) == list(range(6))
    assert "m4" + "." * LONG in ours.bodies
    assert {message.keys for message in ours.messages} >= {("k0",), ("k1",)}


async def test_orderly_members_hand_queues_over_in_order(side: Side, name: str) -> None:
    await side.create_topic(name, 4)
    options = {"group": name, "topic": name, "orderly": True}
    await side.start_java(name, **options)
    async with our_member(side, f"{name}-ours", **options) as ours:
        await until(
            lambda: len(ours.queues) == len(side.java_queues(name)) == 4,
            lambda: (ours.queues, side.java_queues(name)),
        )
        await side.produce_java(name, 40, orderly=True)
        await until(lambda: len(ours.bodies + side.java_bodies(name)) >= 40)
    await until(lambda: len(side.java_queues(name)) == 8)
    await side.produce_java(name, 40, orderly=True, first=40)
    await until(lambda: len(set(ours.bodies + side.java_bodies(name))) == 80)
    by_queue: dict[MessageQueue, list[int]] = defaultdict(list)
    for message in ours.messages:
        queue = MessageQueue(name, message.broker_name, message.queue_id)
        by_queue[queue] += numbers([message.body.decode()])
    for told in side.java.messages(name):
        queue = MessageQueue(name, told["broker"], told["queue_id"])
        by_queue[queue] += numbers([told["body"]])
    assert len(by_queue) == 8
    assert all(given == sorted(set(given)) for given in by_queue.values())
    assert sum(map(len, by_queue.values())) == 80


async def test_broadcasting_members_get_everything_and_share_files(
    side: Side, name: str, tmp_path: Path
) -> None:
    await side.create_topic(name, 2)
    options = {"topic": name, "group": name}
    ours_too = {"message_model": BROADCASTING, "offsets_dir": tmp_path}
    java_id = await side.start_java(name, mode=BROADCASTING, **options)
    async with our_member(side, "caster", **options, **ours_too) as ours:
        our_id = ours.consumer.client_id
        await side.produce_java(name, 8)
        await until(lambda: len(ours.bodies) == len(side.java_bodies(name)) == 8)
    await side.stop_java(name)
    our_file = tmp_path / our_id / name / "offsets.json"
    java_root = side.java.home / ".rocketmq_offsets"
    java_file = java_root / java_id / name / "offsets.json"
    written = decode_offsets(our_file.read_bytes())
    assert written == decode_offsets(java_file.read_bytes())
    assert sum(written.values()) == 8

    # Each goes on from the other's file: nothing of what was consumed comes again.
    swapped = tmp_path / "swapped"
    for source, target in (
        (java_file, swapped / our_id / name / "offsets.json"),
        (our_file, java_root / java_id / name / "offsets.json"),
    ):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target.with_name("taken"))
    for folder in (swapped / our_id / name, java_root / java_id / name):
        (folder / "taken").replace(folder / "offsets.json")
        (folder / "offsets.json.bak").unlink(missing_ok=True)
    await side.start_java(f"{name}-again", mode=BROADCASTING, **options, instance=name)
    ours_too["offsets_dir"] = swapped
    async with our_member(side, "caster", **options, **ours_too) as ours:
        await side.produce_java(name, 4, first=8)
        bodies = [f"m{number}" for number in range(8, 12)]
        await until(
            lambda: (
                sorted(ours.bodies)
                == sorted(side.java_bodies(f"{name}-again"))
                == sorted(bodies)
            ),
            lambda: (ours.bodies, side.java_bodies(f"{name}-again")),
        )


@OLDER_TOO
async def test_a_lite_pull_consumer_polls_seeks_and_commits(
    side: Side, name: str
) -> None:
    await side.create_topic(name, 1)
    await side.produce_java(name, 8)
    consumer = LitePullConsumer(
        side.nameserver,
        group=name,
        instance_name=name,
        client_ip=OUR_IP,
        consume_from_where=FIRST,
        auto_commit=False,
        registry=InstanceRegistry(),
    )
    consumer.subscribe(name)
    async with consumer:
        bodies: list[bytes] = []
        while len(bodies) < 8:
            bodies += [message.body for message in await consumer.poll(timeout_s=30)]
        assert len(set(bodies)) == 8
        for queue in consumer.queues:
            consumer.seek(queue, 1)
        again = [m.body for m in await consumer.poll(timeout_s=30, max_messages=1)]
        assert again[0] in bodies
        await consumer.seek_to_end(consumer.queues[0])
        await consumer.seek_to_begin(consumer.queues[1])
        queues = await consumer.fetch_message_queues(name)
        assert len(queues) == 2
        assert await consumer.offset_for_timestamp(queues[0], 0) == 0
        for queue in queues:
            consumer.seek(queue, 3)
        for _ in queues:
            await consumer.poll(timeout_s=30, max_messages=1)
        await consumer.commit()

        # The commit is one-way: asking for it comes after it on the same channel.
        assert [await consumer.committed(queue) for queue in queues] == [4, 4]
    await side.start_java(name, group=name, topic=name)
    await side.produce_java(name, 2, first=8)
    await until(lambda: len(side.java_bodies(name)) == 2)
    assert sorted(side.java_bodies(name)) == ["m8", "m9"]


async def test_java_with_binary_headers_on_our_cluster(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[SerializeType] = set()
    receive_data = Connection.receive_data

    def noting(self: Connection, data: bytes) -> list[Event]:
        events = receive_data(self, data)
        seen.update(
            event.command.serialize_type
            for event in events
            if isinstance(event, RequestReceived)
            and event.command.code == RequestCode.SEND_MESSAGE_V2
        )
        return events

    monkeypatch.setattr(Connection, "receive_data", noting)
    binary = (*EAGER, "-Drocketmq.serialize.type=ROCKETMQ")
    async with LocalCluster() as cluster:
        address = cluster.nameserver_address
        with JavaDriver(address, tmp_path, jvm_options=binary) as java:
            side = Side(address, java)
            await side.create_topic(name, 2)
            await side.start_java(name, group=name, topic=name)
            await side.produce_java(name, 8)
            await until(lambda: len(side.java_bodies(name)) == 8)
    assert seen == {SerializeType.ROCKETMQ}
