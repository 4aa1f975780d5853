"""Finding and reading messages on the embedded cluster; nothing is left behind."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from rmqcore.admin import Admin
from rmqcore.admin.messages import QueueSpan, unpacked
from rmqcore.client import Producer
from rmqcore.cluster import LocalCluster
from rmqcore.errors import ArgumentError, ConnectError, RouteError
from rmqcore.model import Message, MessageExt, MessageQueue
from rmqcore.model.topic import SubscriptionGroupConfig
from rmqcore.protocol.batch import encode_batch
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.command import RemotingCommand

QUEUE = MessageQueue("T", "broker-b", 1)


@pytest.fixture
async def cluster() -> AsyncIterator[LocalCluster]:
    """Two brokers and forty messages with keys, four of which are `k-7`."""
    async with LocalCluster(brokers=2) as cluster:
        await cluster.create_topic("T", 2)
        producer = Producer(cluster.nameserver_address, group="p")
        await producer.start()
        for number in range(40):
            message = Message.of(
                "T",
                b"body %d" % number,
                tags="red" if number % 2 else "blue",
                keys=[f"k-{number % 10}"],
            )
            await producer.send(message)
        await producer.shutdown()
        yield cluster


@pytest.fixture
async def admin(cluster: LocalCluster) -> AsyncIterator[Admin]:
    async with Admin(cluster.nameserver_address) as admin:
        yield admin


async def all_at(admin: Admin, queue: MessageQueue) -> list[MessageExt]:
    span = await admin.queue_span(queue)
    return list((await admin.messages_at(span, span.min, 100)).messages)


async def test_a_message_by_its_offset_id(admin: Admin) -> None:
    sent = (await all_at(admin, QUEUE))[2]
    found = await admin.message_by_id(sent.offset_msg_id.lower())
    assert found == sent


async def test_an_id_of_nothing_stored_finds_nothing(admin: Admin) -> None:
    sent = (await all_at(admin, QUEUE))[0]
    beyond = sent.offset_msg_id[:16] + f"{10**9:016X}"
    assert await admin.message_by_id(beyond) is None


async def test_an_id_sends_us_to_no_other_address(admin: Admin) -> None:
    """Whoever types an id must not choose whom RocketScope connects to."""
    elsewhere = "0A000001" + "00000050" + "0" * 16
    with pytest.raises(RouteError, match=r"10\.0\.0\.1:80"):
        await admin.message_by_id(elsewhere)
    with pytest.raises(ArgumentError, match="32 or 56"):
        await admin.message_by_id("no id")


async def test_messages_by_key_from_every_broker_newest_first(admin: Admin) -> None:
    found = await admin.messages_by_key("T", "k-7")
    assert [m.keys for m in found.messages] == [("k-7",)] * 4
    assert {m.broker_name for m in found.messages} == {"broker-a", "broker-b"}
    times = [m.store_timestamp for m in found.messages]
    assert times == sorted(times, reverse=True)
    assert (found.cut_short, found.failed) == ((), {})


async def test_a_broker_that_gave_its_most_may_have_more(admin: Admin) -> None:
    found = await admin.messages_by_key("T", "k-7", most=2)
    assert found.cut_short == ("broker-a", "broker-b")


async def test_a_message_by_its_unique_key(admin: Admin) -> None:
    sent = (await all_at(admin, QUEUE))[3]
    found = await admin.messages_by_key("T", sent.msg_id, unique=True)
    assert found.messages == (sent,)
    assert not (await admin.messages_by_key("T", "k-7", unique=True)).messages


async def test_a_broker_that_does_not_answer_is_named(cluster: LocalCluster) -> None:
    away = cluster.brokers["broker-a"].address

    def refuse(address: str, _command: RemotingCommand) -> None:
        if address == away:
            raise ConnectError(f"{address} is away")

    async with Admin(cluster.nameserver_address, hooks=[refuse]) as admin:
        found = await admin.messages_by_key("T", "k-7")
        queues = await admin.queue_spans("T")
    assert dict(found.failed) == {"broker-a": f"{away} is away"}
    assert {m.broker_name for m in found.messages} == {"broker-b"}
    assert list(queues.failed) == ["broker-a"]
    assert {span.queue.broker_name for span in queues.spans} == {"broker-b"}


async def test_what_a_broker_has_committed(admin: Admin) -> None:
    await admin.create_group(SubscriptionGroupConfig("G"))
    await admin.commit_offset("G", QUEUE, 7)
    assert await admin.committed_on("broker-b") == {("T", "G"): {1: 7}}
    assert await admin.committed_on("broker-a") == {}


async def test_queues_with_their_ends(admin: Admin) -> None:
    spans = (await admin.queue_spans("T")).spans
    assert [span.queue.broker_name[-1] for span in spans] == ["a", "a", "b", "b"]
    assert sum(span.max - span.min for span in spans) == 40
    assert await admin.queue_span(QUEUE) == spans[3]
    with pytest.raises(RouteError, match="does not exist"):
        await admin.queue_span(MessageQueue("T", "broker-b", 7))
    with pytest.raises(RouteError, match="not on broker 'broker-z'"):
        await admin.queue_span(MessageQueue("T", "broker-z", 0))


async def test_a_broker_filters_by_tag(admin: Admin) -> None:
    found = [
        message
        for span in (await admin.queue_spans("T")).spans
        for message in (
            await admin.messages_at(span, span.min, 100, expression="red")
        ).messages
    ]
    assert {message.tags for message in found} == {"red"}
    assert len(found) == 20


async def test_outside_of_a_queue_nothing_is_asked(admin: Admin) -> None:
    """A broker writes a message of its own about an offset outside of a queue."""
    span = await admin.queue_span(QUEUE)
    nowhere = replace(span, queue=MessageQueue("T", "broker-z", 0))
    beyond = await admin.messages_at(nowhere, span.max + 5, 10)
    assert (beyond.messages, beyond.next_offset) == ((), span.max)
    before = await admin.messages_at(QueueSpan(nowhere.queue, 5, 9), 2, 10)
    assert before.next_offset == 5
    with pytest.raises(ArgumentError, match="count is 0"):
        await admin.messages_at(span, span.min, 0)


async def test_reading_leaves_nothing_behind(
    admin: Admin, cluster: LocalCluster
) -> None:
    async def left() -> tuple[object, ...]:
        states = [broker.state for broker in cluster.brokers.values()]
        return (
            await admin.topic_names(),
            await admin.group_configs(),
            await admin.groups_of_topic("T"),
            [
                await admin._ask(str(b.master), Code.GET_ALL_CONSUMER_OFFSET)
                and (await admin._ask(str(b.master), Code.GET_ALL_CONSUMER_OFFSET)).body
                for b in await admin.brokers()
            ],
            [list(state.consumers.groups()) for state in states],
        )

    before = await left()
    for span in (await admin.queue_spans("T")).spans:
        await admin.messages_at(span, span.min, 10)
        await admin.messages_at(span, span.max, 10)
    await admin.messages_by_key("T", "k-7")
    assert await left() == before


def test_a_batch_kept_as_one_record_is_unpacked() -> None:
    items = [Message.of("T", b"one", keys=["a"]), Message.of("T", b"two", tags="red")]
    packed = zlib.compress(encode_batch(items))
    record = MessageExt(
        *("T", "broker-a", 1, 40, 0, packed, {"INNER_NUM": "2"}, 0),
        *(1 | 0x80, 0, "10.0.0.1:1", 0, "10.0.0.1:2", 0, 0, 0, 0, "ID"),
    )
    first, second = unpacked(record)
    assert (first.body, first.keys, first.queue_offset) == (b"one", ("a",), 40)
    assert (second.body, second.tags, second.queue_offset) == (b"two", "red", 41)
    assert unpacked(first) == [first]
