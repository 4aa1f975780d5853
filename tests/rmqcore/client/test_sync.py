"""The clients of code without asyncio, on a real cluster, from plain threads."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from typing import Any

import pytest

from rmqcore import client
from rmqcore.client import ConsumeContext, ConsumeResult, SendResult, sync
from rmqcore.client.sync import PROCESS_LOOP, LitePullConsumer, Producer, PushConsumer
from rmqcore.cluster import LocalCluster
from rmqcore.errors import ArgumentError, ConnectError, RouteError, StateError
from rmqcore.model import Message, MessageExt, MessageQueue
from tests.support.waiting import wait_until as until

FIRST = "CONSUME_FROM_FIRST_OFFSET"
PATIENCE_S = 60.0
Q0 = MessageQueue("T", "broker-a", 0)


@pytest.fixture
def nameserver() -> Iterator[str]:
    """A cluster on the clients' own loop, with the topic T of four queues."""

    async def started() -> LocalCluster:
        cluster = LocalCluster(auto_create_topic=False)
        await cluster.start()
        await cluster.create_topic("T", 4)
        return cluster

    cluster = PROCESS_LOOP.call(started())
    yield cluster.nameserver_address
    PROCESS_LOOP.call(cluster.stop())


class Heard:
    """A listener in threads that remembers what it got, and where it ran."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.threads: set[str] = set()

    def __call__(
        self, messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        self.threads.add(threading.current_thread().name)
        self.bodies += [message.body for message in messages]
        return ConsumeResult.SUCCESS


def test_every_way_of_sending_arrives(nameserver: str) -> None:
    heard = Heard()
    with Producer(nameserver, group="P", client_ip="ip") as producer:
        assert producer.group == "P"
        assert producer.client_id.startswith("ip@")
        assert len(producer.publish_queues("T")) == 4
        assert producer.send(Message("T", b"sent"), queue=Q0).queue == Q0
        producer.send_batch([Message("T", b"batch1"), Message("T", b"batch2")])
        futures = [producer.send_async(Message("T", b"%d" % n)) for n in range(50)]
        assert len({future.result(PATIENCE_S).msg_id for future in futures}) == 50
        producer.send_oneway(Message("T", b"oneway"))
        options: dict[str, Any] = {"listener": heard, "consume_from_where": FIRST}
        consumer = PushConsumer(nameserver, group="G", **options)
        consumer.subscribe("T")
        with consumer:
            assert consumer.group == "G"
            until(lambda: len(heard.bodies) == 54)
            assert len(consumer.queues) == 4 + 1
    assert {b"sent", b"batch1", b"batch2", b"oneway", b"49"} <= set(heard.bodies)
    assert all(name.startswith("consume-G") for name in heard.threads)


def test_a_push_consumer_can_be_steered(nameserver: str) -> None:
    consumer = PushConsumer(nameserver, group="G", listener=Heard())
    consumer.subscribe("T", "a || b")
    with consumer:
        assert consumer.rebalance()
        consumer.pause()
        assert consumer.paused
        consumer.resume()
        assert not consumer.paused
        consumer.switch_strategy("AVG_BY_CIRCLE")
        with pytest.raises(ArgumentError, match="NONE"):
            consumer.switch_strategy("NONE")
        consumer.unsubscribe("T")
        until(lambda: "T" not in {queue.topic for queue in consumer.queues})
        consumer.abandon()
    assert consumer.queues == []


def test_a_lite_pull_consumer_polls_and_seeks(nameserver: str) -> None:
    with Producer(nameserver) as producer:
        for number in range(3):
            producer.send(Message("T", b"%d" % number), queue=Q0)
    consumer = LitePullConsumer(nameserver, group="L", consume_from_where=FIRST)
    consumer.assign([Q0])
    with consumer:
        assert consumer.group == "L"
        assert consumer.queues == [Q0]
        assert len(consumer.fetch_message_queues("T")) == 4
        assert consumer.offset_for_timestamp(Q0, 0) == 0
        assert [m.body for m in consumer.poll(PATIENCE_S, 2)] == [b"0", b"1"]
        consumer.commit()
        assert consumer.committed(Q0) == 2
        consumer.seek(Q0, 1)
        assert [m.body for m in consumer.poll(PATIENCE_S, 1)] == [b"1"]
        consumer.seek_to_begin(Q0)
        assert [m.body for m in consumer.poll(PATIENCE_S, 1)] == [b"0"]
        consumer.seek_to_end(Q0)
        consumer.pause([Q0])
        consumer.resume([Q0])
        assert consumer.poll(0.01) == []


def test_a_lite_pull_consumer_subscribes(nameserver: str) -> None:
    consumer = LitePullConsumer(nameserver, group="L")
    consumer.subscribe("T")
    with consumer:
        until(lambda: len(consumer.queues) == 4)
        consumer.unsubscribe("T")
        until(lambda: not consumer.queues)


def test_a_listener_may_send(nameserver: str) -> None:
    sent: list[SendResult] = []
    with Producer(nameserver) as producer:

        def forward(
            messages: Sequence[MessageExt], context: ConsumeContext
        ) -> ConsumeResult:
            sent.append(producer.send(Message("T", b"again"), queue=Q0))
            return ConsumeResult.SUCCESS

        consumer = PushConsumer(
            nameserver, group="G", listener=forward, consume_from_where=FIRST
        )
        consumer.subscribe("T", "first")
        with consumer:
            producer.send(Message.of("T", b"x", tags="first"))
            until(lambda: sent)


def test_errors_are_those_of_the_asyncio_clients(nameserver: str) -> None:
    with pytest.raises(ArgumentError, match="empty"):
        Producer(nameserver, group=" ")
    with pytest.raises(ConnectError):
        PushConsumer("127.0.0.1:1", group="G", listener=Heard()).start()
    with Producer(nameserver) as producer:
        with pytest.raises(RouteError, match="unknown"):
            producer.send(Message("unknown", b"x"))
        failed = producer.send_async(Message("unknown", b"x"))
        with pytest.raises(RouteError, match="unknown"):
            failed.result(PATIENCE_S)
        with pytest.raises(StateError, match="has been started"):
            producer.start()
    with pytest.raises(StateError, match="not running"):
        producer.send(Message("T", b"x"))


def test_no_more_sends_than_allowed_are_under_way(nameserver: str) -> None:
    with Producer(nameserver, max_under_way=2) as producer:
        futures: list[Future[SendResult]] = []
        for _ in range(20):
            futures.append(producer.send_async(Message("T", b"x")))
            # The one just handed over, and one that was before it.
            assert sum(not future.done() for future in futures) <= 2
        done, _ = wait(futures, PATIENCE_S)
        assert len(done) == 20


def test_waiting_on_the_loop_itself_is_refused(nameserver: str) -> None:
    producer = Producer(nameserver)

    async def start() -> None:
        producer.start()

    with pytest.raises(StateError, match="own thread"):
        PROCESS_LOOP.call(start())


def test_whoever_stops_waiting_cancels_the_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(self: Future[Any], timeout: float | None = None) -> None:
        raise KeyboardInterrupt

    ended = threading.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    monkeypatch.setattr(Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        PROCESS_LOOP.call(work())
    assert ended.wait(PATIENCE_S)


@pytest.mark.parametrize("name", ["Producer", "PushConsumer", "LitePullConsumer"])
def test_the_names_are_those_of_the_asyncio_clients(name: str) -> None:
    def public(kind: type) -> set[str]:
        return {n for n, _ in inspect.getmembers(kind) if not n.startswith("_")}

    # `instance` is the asyncio machinery itself.
    there = public(getattr(client, name)) - {"instance"}
    assert public(getattr(sync, name)) - there <= {"group"}
    assert there <= public(getattr(sync, name))
