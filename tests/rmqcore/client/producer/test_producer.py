"""Producing on a real cluster: where messages go, what comes back, what is retried."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from rmqcore.client import Producer, SendStatus, by_hash
from rmqcore.cluster import LocalCluster
from rmqcore.errors import (
    ArgumentError,
    ChannelClosedError,
    ConnectError,
    ResponseError,
    RouteError,
    StateError,
)
from rmqcore.model import Message, MessageQueue
from rmqcore.model.message import Property
from tests.rmqcore.client.joining import Clients, Heard, send
from tests.support.waiting import until

Q2 = MessageQueue("T", "broker-a", 2)


async def test_a_send_tells_where_the_message_went(producer: Producer) -> None:
    result = await producer.send(Message("T", b"x"), queue=Q2)
    assert result.status is SendStatus.SEND_OK
    assert (result.queue, result.queue_offset) == (Q2, 0)
    assert len(result.msg_id) == len(result.offset_msg_id) == 32


async def test_consumers_see_the_id_that_was_returned(
    clients: Clients, producer: Producer
) -> None:
    heard = Heard()
    await clients.started(heard)
    result = await producer.send(Message.of("T", b"x", keys=["k"], tags="t"))
    await until(lambda: heard.messages)
    (message,) = heard.messages
    assert message.msg_id == result.msg_id
    assert (message.keys, message.tags) == (("k",), "t")
    assert message.offset_msg_id == result.offset_msg_id


async def test_an_id_given_is_kept(producer: Producer) -> None:
    message = Message("T", b"x", {Property.UNIQUE_KEY: "MINE"})
    assert (await producer.send(message)).msg_id == "MINE"


async def test_queues_are_taken_in_turn(producer: Producer) -> None:
    results = [await producer.send(Message("T", b"x")) for _ in range(8)]
    assert Counter(r.queue.queue_id for r in results) == {0: 2, 1: 2, 2: 2, 3: 2}


async def test_a_key_goes_to_one_queue(producer: Producer) -> None:
    results = [
        await producer.send(Message("T", b"x"), select=by_hash("order-7"))
        for _ in range(4)
    ]
    assert len({r.queue for r in results}) == 1


async def test_a_batch_is_stored_in_one_queue(
    clients: Clients, producer: Producer
) -> None:
    batch = [Message.of("T", str(n).encode(), tags="t") for n in range(5)]
    result = await producer.send_batch(batch, queue=Q2)
    assert result.queue_offset == 0
    assert len(result.msg_id.split(",")) == len(result.offset_msg_id.split(",")) == 5
    heard = Heard()
    await clients.started(heard)
    await until(lambda: len(heard.messages) == 5)
    ids = [message.msg_id for message in heard.messages]
    assert ids == result.msg_id.split(",")
    assert {message.tags for message in heard.messages} == {"t"}


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        ([], "at least one"),
        ([Message("T", b""), Message("U", b"")], "one topic"),
        ([Message.of("T", b"", delay_level=1)], "delayed"),
        ([Message("%RETRY%G", b"")], "%RETRY%G"),
        ([Message("T", b"x" * 2_100_000)] * 2, "limit 4194304"),
    ],
)
async def test_what_is_no_batch_is_refused(
    producer: Producer, batch: list[Message], words: str
) -> None:
    with pytest.raises(ArgumentError, match=words):
        await producer.send_batch(batch, queue=Q2)


async def test_asynchronous_sends_end_with_results(producer: Producer) -> None:
    futures = [await producer.send_async(Message("T", b"x")) for _ in range(100)]
    results = await asyncio.gather(*futures)
    assert sum(r.status is SendStatus.SEND_OK for r in results) == 100


async def test_asynchronous_sends_are_bounded(clients: Clients) -> None:
    producer = await clients.producer(max_under_way=1)
    for _ in range(5):
        await producer.send_async(Message("T", b"x"))
    last = await producer.send_async(Message("T", b"x"))
    assert (await last).status is SendStatus.SEND_OK


async def test_a_oneway_send_arrives(clients: Clients, producer: Producer) -> None:
    heard = Heard()
    await clients.started(heard)
    await producer.send_oneway(Message("T", b"x"))
    await until(lambda: heard.bodies == ["x"])


async def test_large_bodies_travel_compressed(
    clients: Clients, producer: Producer
) -> None:
    heard = Heard()
    await clients.started(heard)
    await producer.send(Message("T", b"x" * 100_000))
    await until(lambda: heard.messages)
    assert heard.messages[0].body == b"x" * 100_000
    assert heard.messages[0].store_size < 1000


async def test_an_unknown_topic_is_created_by_the_broker(
    clients: Clients, producer: Producer
) -> None:
    await send(producer, ["first"], topic="brand-new")
    heard = Heard()
    await clients.started(heard, topic="brand-new", group="H")
    await until(lambda: heard.bodies == ["first"])


# Failures


async def test_a_dead_broker_is_avoided(clients: Clients) -> None:
    async with LocalCluster(brokers=2) as two:
        await two.create_topic("T", 2)
        own = Clients(two.nameserver_address)
        producer = await own.producer(retries=1)
        await producer.publish_queues("T")
        await two.kill_broker("broker-a")
        results = [await producer.send(Message("T", b"x")) for _ in range(4)]
        assert {r.queue.broker_name for r in results} == {"broker-b"}
        await own.shut_down()


async def test_an_asynchronous_send_goes_elsewhere_too() -> None:
    async with LocalCluster(brokers=2) as two:
        await two.create_topic("T", 2)
        own = Clients(two.nameserver_address)
        producer = await own.producer()
        await producer.publish_queues("T")
        await two.kill_broker("broker-a")
        futures = [await producer.send_async(Message("T", b"x")) for _ in range(4)]
        results = await asyncio.gather(*futures)
        assert {r.queue.broker_name for r in results} == {"broker-b"}
        await own.shut_down()


async def test_a_chosen_queue_is_not_replaced(
    producer: Producer, cluster: LocalCluster
) -> None:
    await producer.send(Message("T", b"x"))
    await cluster.kill_broker("broker-a")
    with pytest.raises((ConnectError, ChannelClosedError)):
        await producer.send(Message("T", b"x"), queue=Q2)
    outcome = await producer.send_async(Message("T", b"x"), queue=Q2)
    with pytest.raises((ConnectError, ChannelClosedError)):
        await outcome


async def test_what_the_broker_refuses_for_good_is_raised(producer: Producer) -> None:
    beyond = MessageQueue("T", "broker-a", 99)
    with pytest.raises(ResponseError) as refused:
        await producer.send(Message("T", b"x"), queue=beyond)
    assert refused.value.request_code == 310
    outcome = await producer.send_async(Message("T", b"x"), queue=beyond)
    with pytest.raises(ResponseError):
        await outcome


async def test_slow_brokers_are_left_alone_when_asked() -> None:
    async with LocalCluster(brokers=2) as two:
        await two.create_topic("T", 2)
        own = Clients(two.nameserver_address)
        producer = await own.producer(latency_fault=True, retries=1)
        await producer.publish_queues("T")
        await two.kill_broker("broker-a")
        for _ in range(4):
            await producer.send(Message("T", b"x"))
        port = 0
        await two.start_broker("broker-a", port=port)
        results = [await producer.send(Message("T", b"x")) for _ in range(4)]
        assert {r.queue.broker_name for r in results} == {"broker-b"}
        await own.shut_down()


async def test_asynchronous_sends_leave_slow_brokers_alone_too() -> None:
    async with LocalCluster(brokers=2) as two:
        await two.create_topic("T", 2)
        own = Clients(two.nameserver_address)
        producer = await own.producer(latency_fault=True)
        await producer.publish_queues("T")
        await two.kill_broker("broker-a")
        for _ in range(4):
            await (await producer.send_async(Message("T", b"x")))
        await two.start_broker("broker-a")
        sent = [await producer.send_async(Message("T", b"x")) for _ in range(4)]
        results = await asyncio.gather(*sent)
        assert {r.queue.broker_name for r in results} == {"broker-b"}
        await own.shut_down()


async def test_an_unknown_broker_is_named(producer: Producer) -> None:
    nowhere = MessageQueue("T", "broker-z", 0)
    with pytest.raises(RouteError, match="broker-z"):
        await producer.send(Message("T", b"x"), queue=nowhere)
    with pytest.raises(RouteError, match="broker-z"):
        await producer.send_async(Message("T", b"x"), queue=nowhere)


async def test_a_producer_that_does_not_run_says_so(clients: Clients) -> None:
    producer = Producer(clients.nameserver, group="P")
    with pytest.raises(StateError, match="not running"):
        await producer.send(Message("T", b"x"))
    async with producer:
        with pytest.raises(StateError, match="has been started"):
            await producer.start()
    await producer.shutdown()


@pytest.mark.parametrize(
    "options", [{"group": ""}, {"retries": -1}, {"timers": "sometimes"}]
)
def test_wrong_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ArgumentError):
        Producer("127.0.0.1:1", **options)  # type: ignore[arg-type]


async def test_a_group_is_registered_once_per_client(clients: Clients) -> None:
    producer = await clients.producer(instance_name="shared")
    instance, _ = producer._started()
    with pytest.raises(StateError, match="producer group P"):
        await instance.add_producer("P")
