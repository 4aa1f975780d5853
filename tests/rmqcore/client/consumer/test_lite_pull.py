"""Lite pull on a real cluster: subscribe or assign, poll, seek, commit (C10)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from rmqcore.broker import server
from rmqcore.broker.processors import HANDLERS
from rmqcore.broker.state import Handler
from rmqcore.client import InstanceRegistry, LitePullConsumer, Producer
from rmqcore.cluster import LocalCluster
from rmqcore.errors import ArgumentError, StateError
from rmqcore.model import Message, MessageQueue
from rmqcore.protocol.codes import RequestCode
from rmqcore.timers import Timer
from tests.rmqcore.client.joining import FIRST, Heard, send
from tests.support.waiting import PATIENCE_SECONDS as PATIENCE_S
from tests.support.waiting import until

Q0 = MessageQueue("T", "broker-a", 0)
Q1 = MessageQueue("T", "broker-a", 1)


class Pollers:
    """Makes lite pull consumers as if each ran in a process of its own."""

    def __init__(self, nameserver: str) -> None:
        self._nameserver = nameserver
        self._made: list[LitePullConsumer] = []

    def made(self, name: str = "c1", **options: Any) -> LitePullConsumer:
        options.setdefault("consume_from_where", FIRST)
        consumer = LitePullConsumer(
            self._nameserver,
            group="L",
            instance_name=name,
            client_ip="ip",
            registry=InstanceRegistry(),
            timers="external",
            **options,
        )
        self._made.append(consumer)
        return consumer

    async def subscribed(self, name: str = "c1", **options: Any) -> LitePullConsumer:
        consumer = self.made(name, **options)
        consumer.subscribe("T")
        await consumer.start()
        await until(lambda: consumer.queues)
        return consumer

    async def assigned(self, *queues: MessageQueue, **options: Any) -> LitePullConsumer:
        consumer = self.made(**options)
        await consumer.assign(queues)
        await consumer.start()
        return consumer

    async def shut_down(self) -> None:
        for consumer in self._made:
            await consumer.shutdown()


@pytest.fixture
async def pollers(cluster: LocalCluster) -> AsyncIterator[Pollers]:
    made = Pollers(cluster.nameserver_address)
    yield made
    await made.shut_down()


async def polled(consumer: LitePullConsumer, count: int) -> list[str]:
    """Poll until `count` messages have come; return their bodies."""
    bodies: list[str] = []
    while len(bodies) < count:
        messages = await consumer.poll(timeout_s=PATIENCE_S)
        assert messages, f"only {bodies} came"
        bodies += [message.body.decode() for message in messages]
    return bodies


async def fill(producer: Producer, queue: MessageQueue, count: int) -> None:
    for number in range(count):
        await producer.send(Message("T", str(number).encode()), queue=queue)


def committed(cluster: LocalCluster, queue_id: int = 0) -> int | None:
    offsets = cluster.brokers["broker-a"].state.offsets
    return offsets.committed("L", "T", queue_id)


async def test_subscribed_queues_are_divided_and_polled(
    pollers: Pollers, producer: Producer
) -> None:
    one = await pollers.subscribed("c1")
    two = await pollers.subscribed("c2")
    await until(lambda: len(one.queues) == len(two.queues) == 2)
    await send(producer, range(8))
    bodies = await polled(one, 4) + await polled(two, 4)
    assert sorted(bodies) == [str(number) for number in range(8)]


async def test_a_broker_of_4_x_is_polled_by_its_one_code_of_pulls(
    pollers: Pollers, producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    class Older(dict[int, Handler]):
        def get(self, code: int, *default: Any) -> Any:
            asked.append(code)
            return super().get(code, *default)

    known = {c: h for c, h in HANDLERS.items() if c != RequestCode.LITE_PULL_MESSAGE}
    monkeypatch.setattr(server, "HANDLERS", Older(known))
    consumer = await pollers.assigned(Q0)
    for part in ("01", "23"):
        for body in part:
            await producer.send(Message("T", body.encode()), queue=Q0)
        assert await polled(consumer, 2) == list(part)
    # Refused once, it is not asked so again.
    assert asked.count(RequestCode.LITE_PULL_MESSAGE) == 1


async def test_a_queue_is_polled_in_order_and_in_parts(
    pollers: Pollers, producer: Producer
) -> None:
    await fill(producer, Q0, 5)
    consumer = await pollers.assigned(Q0)
    first = await consumer.poll(max_messages=2)
    assert [m.body for m in first] == [b"0", b"1"]
    assert await polled(consumer, 3) == ["2", "3", "4"]


async def test_a_poll_that_finds_nothing_is_empty(pollers: Pollers) -> None:
    consumer = await pollers.assigned(Q0)
    assert await consumer.poll(timeout_s=0.01) == []


async def test_only_polled_messages_are_committed(
    pollers: Pollers, producer: Producer, cluster: LocalCluster
) -> None:
    await fill(producer, Q0, 5)
    consumer = await pollers.assigned(Q0, auto_commit=False)
    await consumer.poll(max_messages=3)
    await consumer.instance.run_timer(Timer.PERSIST_OFFSETS)
    assert not committed(cluster)
    await consumer.commit()
    await until(lambda: committed(cluster) == 3)
    assert await consumer.committed(Q0) == 3


async def test_auto_commit_counts_what_earlier_polls_gave(
    pollers: Pollers, producer: Producer
) -> None:
    await fill(producer, Q0, 4)
    consumer = await pollers.assigned(Q0, auto_commit_s=0.0)
    await consumer.poll(max_messages=1)
    assert not await consumer.committed(Q0)
    await consumer.poll(max_messages=1)
    assert await consumer.committed(Q0) == 1


async def test_leaving_commits_what_was_polled(
    pollers: Pollers, producer: Producer, cluster: LocalCluster
) -> None:
    await fill(producer, Q0, 4)
    consumer = await pollers.assigned(Q0)
    await polled(consumer, 4)
    await consumer.shutdown()
    assert committed(cluster) == 4


async def test_leaving_without_auto_commit_commits_nothing(
    pollers: Pollers, producer: Producer, cluster: LocalCluster
) -> None:
    await fill(producer, Q0, 4)
    consumer = await pollers.assigned(Q0, auto_commit=False)
    await polled(consumer, 4)
    await consumer.shutdown()
    assert not committed(cluster)


async def test_seeking_goes_back_and_forth(
    pollers: Pollers, producer: Producer
) -> None:
    await fill(producer, Q0, 4)
    consumer = await pollers.assigned(Q0)
    assert await polled(consumer, 4) == ["0", "1", "2", "3"]
    consumer.seek(Q0, 2)
    assert await polled(consumer, 2) == ["2", "3"]
    await consumer.seek_to_begin(Q0)
    assert (await polled(consumer, 4))[0] == "0"
    consumer.seek(Q0, 0)
    await consumer.seek_to_end(Q0)
    await producer.send(Message("T", b"new"), queue=Q0)
    assert await polled(consumer, 1) == ["new"]


async def test_a_paused_queue_is_not_pulled(
    pollers: Pollers, producer: Producer
) -> None:
    consumer = await pollers.assigned(Q0)
    await consumer.poll(timeout_s=0.01)
    consumer.pause([Q0])
    consumer.seek(Q0, 0)
    await fill(producer, Q0, 1)
    assert await consumer.poll(timeout_s=0.05) == []
    consumer.resume([Q0])
    assert await polled(consumer, 1) == ["0"]


async def test_another_assignment_takes_the_place_of_the_first(
    pollers: Pollers, producer: Producer, cluster: LocalCluster
) -> None:
    heard = Heard()
    await fill(producer, Q0, 2)
    await fill(producer, Q1, 1)
    consumer = await pollers.assigned(Q0, on_event=heard.events.append)
    await polled(consumer, 2)
    await consumer.assign([Q1])
    assert consumer.queues == [Q1]
    assert heard.allocations() == [(Q0,), (Q1,)]
    assert committed(cluster) == 2
    assert await polled(consumer, 1) == ["0"]


async def test_queues_and_offsets_can_be_asked_for(
    pollers: Pollers, producer: Producer
) -> None:
    await fill(producer, Q0, 2)
    consumer = await pollers.assigned()
    assert len(await consumer.fetch_message_queues("T")) == 4
    assert await consumer.fetch_message_queues("unknown") == []
    assert await consumer.offset_for_timestamp(Q0, 0) == 0


async def test_topics_come_and_go_while_it_runs(
    cluster: LocalCluster, pollers: Pollers, producer: Producer
) -> None:
    await cluster.create_topic("U", 1)
    consumer = await pollers.subscribed()
    consumer.subscribe("U")
    await until(lambda: len(consumer.queues) == 5)
    consumer.unsubscribe("T")
    await until(lambda: [queue.topic for queue in consumer.queues] == ["U"])
    await send(producer, ["u"], topic="U")
    assert await polled(consumer, 1) == ["u"]


async def test_queues_can_be_assigned_to_one_that_runs(
    pollers: Pollers, producer: Producer
) -> None:
    await fill(producer, Q1, 1)
    consumer = pollers.made()
    await consumer.start()
    assert consumer.queues == []
    await consumer.assign([Q1])
    assert await polled(consumer, 1) == ["0"]
    with pytest.raises(StateError, match="have been assigned"):
        consumer.subscribe("T")


async def test_assigning_and_subscribing_exclude_each_other(pollers: Pollers) -> None:
    consumer = pollers.made()
    consumer.subscribe("T")
    with pytest.raises(StateError, match="have been subscribed"):
        await consumer.assign([Q0])
    other = pollers.made()
    await other.assign([Q0])
    with pytest.raises(StateError, match="have been assigned"):
        other.subscribe("T")


async def test_what_is_not_held_cannot_be_moved(pollers: Pollers) -> None:
    consumer = await pollers.assigned(Q0)
    with pytest.raises(ArgumentError, match="queueId=1"):
        consumer.seek(Q1, 0)
    with pytest.raises(ArgumentError, match="offset is -1"):
        consumer.seek(Q0, -1)


async def test_calls_at_the_wrong_time_are_refused(pollers: Pollers) -> None:
    consumer = pollers.made()
    with pytest.raises(StateError, match="not running"):
        await consumer.poll()
    with pytest.raises(ArgumentError, match="topic"):
        consumer.subscribe("")
    consumer.subscribe("T")
    await consumer.start()
    with pytest.raises(StateError, match="has been started"):
        await consumer.start()
