"""When brokers refuse or have forgotten: what is kept, what is tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from rmqcore.allocation import AllocateStrategy
from rmqcore.allocation.strategy import Divide
from rmqcore.client import Producer
from rmqcore.client.rebalance import rebalancer
from rmqcore.cluster import LocalCluster
from rmqcore.model import Message, MessageExt, MessageQueue
from rmqcore.protocol.codes import RequestCode
from rmqcore.timers import Timer
from tests.rmqcore.client.joining import Clients, Heard, Refused, queue_ids, send
from tests.support.waiting import PATIENCE_SECONDS as PATIENCE_S
from tests.support.waiting import until

Q0 = MessageQueue("T", "broker-a", 0)


@dataclass(frozen=True)
class Moody(AllocateStrategy):
    """A strategy of somebody's own that works once."""

    state: list[int]

    @property
    def name(self) -> str:
        return "MOODY"

    def allocate(
        self,
        group: str,
        client_id: str,
        queues: Sequence[MessageQueue],
        client_ids: Sequence[str],
    ) -> list[MessageQueue]:
        self.state.append(len(queues))
        if len(self.state) > 2:
            raise RuntimeError("not today")
        return list(queues)

    def divider(self, client_ids: Sequence[str]) -> Divide:
        raise NotImplementedError


# Rebalancing


async def test_without_the_members_the_part_is_kept(clients: Clients) -> None:
    refused = Refused()
    consumer = await clients.started(Heard(), hooks=[refused])
    refused.codes.add(RequestCode.GET_CONSUMER_LIST_BY_GROUP)
    assert not await consumer.rebalance()
    assert refused.count
    assert queue_ids(consumer) == [0, 1, 2, 3]
    refused.codes.clear()
    assert await consumer.rebalance()


async def test_a_strategy_that_fails_keeps_the_part(
    clients: Clients, caplog: pytest.LogCaptureFixture
) -> None:
    strategy = Moody([])
    consumer = await clients.started(Heard(), strategy=strategy)
    await consumer.rebalance()
    assert queue_ids(consumer) == [0, 1, 2, 3]
    assert "strategy=MOODY failed" in caplog.text
    info = consumer.instance.members["G"].running_info(with_stacks=False)
    assert "Moody@" in info.properties["allocateMessageQueueStrategy"]


async def test_an_offset_that_cannot_be_read_is_asked_for_again(
    clients: Clients, producer: Producer
) -> None:
    await send(producer, range(4))
    heard, refused = Heard(), Refused(RequestCode.QUERY_CONSUMER_OFFSET)
    consumer = clients.consumer(heard, hooks=[refused])
    await consumer.start()
    await until(lambda: refused.count >= 4)
    assert queue_ids(consumer) == []
    refused.codes.clear()
    await until(lambda: sorted(heard.bodies) == ["0", "1", "2", "3"])


async def test_locks_that_cannot_be_asked_for_are_not_held(clients: Clients) -> None:
    refused = Refused(RequestCode.LOCK_BATCH_MQ)
    consumer = clients.consumer(Heard(), orderly=True, hooks=[refused])
    await consumer.start()
    await until(lambda: refused.count)
    assert queue_ids(consumer) == []
    refused.codes.clear()
    await until(lambda: queue_ids(consumer) == [0, 1, 2, 3])
    refused.codes.add(RequestCode.LOCK_BATCH_MQ)
    await consumer.instance.run_timer(Timer.RENEW_LOCKS)
    assert queue_ids(consumer) == [0, 1, 2, 3]


async def test_leaving_gets_by_without_the_broker(
    clients: Clients, caplog: pytest.LogCaptureFixture
) -> None:
    refused = Refused()
    consumer = await clients.started(Heard(), orderly=True, hooks=[refused])
    refused.codes |= {
        RequestCode.UPDATE_CONSUMER_OFFSET,
        RequestCode.UNLOCK_BATCH_MQ,
        RequestCode.UNREGISTER_CLIENT,
    }
    await consumer.shutdown()
    assert "not given back" in caplog.text
    assert "did not hear that we leave" in caplog.text


async def test_a_topic_without_a_route_is_waited_for(
    clients: Clients, cluster: LocalCluster
) -> None:
    heard = Heard()
    consumer = clients.consumer(heard, topic="later")
    await consumer.start()
    assert not await consumer.rebalance()
    await cluster.create_topic("later", 2)
    await consumer.instance.run_timer(Timer.REFRESH_ROUTES)
    await until(lambda: queue_ids(consumer, "later") == [0, 1])


# Pulling


async def test_a_pull_that_fails_is_tried_again(
    clients: Clients, producer: Producer, caplog: pytest.LogCaptureFixture
) -> None:
    heard, refused = Heard(), Refused(RequestCode.PULL_MESSAGE)
    await clients.started(heard, hooks=[refused])
    await send(producer, ["x"])
    await until(lambda: refused.count >= 4)
    refused.codes.clear()
    await until(lambda: heard.bodies == ["x"])
    assert "pull failed" in caplog.text


@pytest.mark.parametrize("offset", [100, 3])
async def test_an_offset_beyond_the_end_is_corrected(
    clients: Clients, producer: Producer, cluster: LocalCluster, offset: int
) -> None:
    for number in range(2):
        await producer.send(Message("T", str(number).encode()), queue=Q0)
    state = cluster.brokers["broker-a"].state
    state.offsets.commit("G", "T", 0, offset, state.clock.time_ms())
    heard = Heard()
    consumer = await clients.started(heard)
    await until(lambda: state.offsets.committed("G", "T", 0) == 2)
    await until(lambda: queue_ids(consumer) == [0, 1, 2, 3])
    await producer.send(Message("T", b"new"), queue=Q0)
    await until(lambda: heard.bodies == ["new"])


async def test_a_broker_that_forgot_the_group_is_greeted_again(
    clients: Clients, producer: Producer, cluster: LocalCluster
) -> None:
    heard = Heard()
    await clients.started(heard)
    consumers = cluster.brokers["broker-a"].state.consumers
    group = consumers.group("G")
    assert group is not None
    for channel in list(group.members):
        consumers.close(channel)
    assert consumers.group("G") is None
    await send(producer, ["x"])
    await until(lambda: heard.bodies == ["x"])


# Leaving without a word


async def test_who_abandons_writes_nothing(
    clients: Clients, producer: Producer, cluster: LocalCluster
) -> None:
    begun = asyncio.Event()

    async def hang(messages: Sequence[MessageExt]) -> None:
        begun.set()
        await asyncio.Event().wait()

    consumer = await clients.started(Heard(before=hang), orderly=True)
    await producer.send(Message("T", b"x"), queue=Q0)
    await begun.wait()
    await consumer.abandon()
    state = cluster.brokers["broker-a"].state
    assert consumer.queues == []
    assert not state.offsets.committed("G", "T", 0)
    assert state.locks.owner("G", Q0, state.clock.time_ms()) == consumer.client_id


async def test_offsets_that_cannot_be_sent_are_left_to_the_next_time(
    clients: Clients, producer: Producer, cluster: LocalCluster
) -> None:
    heard = Heard()
    consumer = await clients.started(heard)
    await send(producer, range(4))
    await until(lambda: len(heard.bodies) == 4)
    port = int(cluster.broker_addresses["broker-a"].rpartition(":")[2])
    await cluster.stop_broker("broker-a")
    await consumer.instance.run_timer(Timer.PERSIST_OFFSETS)
    await cluster.start_broker("broker-a", port=port)
    state = cluster.brokers["broker-a"].state
    assert not state.offsets.committed("G", "T", 0)
    await consumer.instance.run_timer(Timer.PERSIST_OFFSETS)
    await until(lambda: state.offsets.committed("G", "T", 0) == 1)


async def test_an_observer_that_fails_changes_nothing(
    clients: Clients, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(event: object) -> None:
        raise RuntimeError("a bad observer")

    consumer = clients.consumer(Heard(), on_event=fail)
    await consumer.start()
    await until(lambda: queue_ids(consumer) == [0, 1, 2, 3])
    await until(lambda: "a bad observer" in caplog.text)


async def test_a_consumer_nobody_watches_works_too(
    clients: Clients, producer: Producer
) -> None:
    heard = Heard()
    consumer = clients.consumer(heard, on_event=None)
    async with consumer:
        await send(producer, range(4))
        await until(lambda: len(heard.bodies) == 4)
        await consumer.instance.run_timer(Timer.PERSIST_OFFSETS)


async def test_a_stalled_queue_is_taken_anew(clients: Clients) -> None:
    heard = Heard()
    consumer = await clients.started(heard)
    member = consumer.instance.members["G"]
    process = member.context.held[Q0]  # type: ignore[attr-defined]
    consumer.pause()
    process.last_pull_ms -= 121_000
    await consumer.rebalance()
    assert process.dropped
    assert queue_ids(consumer) == [0, 1, 2, 3]
    assert member.context.held[Q0] is not process  # type: ignore[attr-defined]


async def test_without_trust_in_its_lock_a_queue_is_not_consumed(
    clients: Clients, producer: Producer
) -> None:
    heard = Heard()
    consumer = await clients.started(heard, orderly=True)
    process = consumer.instance.members["G"].context.held[Q0]  # type: ignore[attr-defined]
    process.last_lock_ms -= 31_000
    await producer.send(Message("T", b"waits"), queue=Q0)
    await producer.send(Message("T", b"goes"), queue=MessageQueue("T", "broker-a", 1))
    await until(lambda: heard.bodies == ["goes"])
    await until(lambda: process.message_count == 1)
    await consumer.instance.run_timer(Timer.RENEW_LOCKS)
    await until(lambda: heard.bodies == ["goes", "waits"])


async def test_a_listener_that_never_ends_holds_a_queue_only_so_long(
    clients: Clients,
    producer: Producer,
    cluster: LocalCluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rebalancer, "RELEASE_WAIT_S", 0.05)
    begun = asyncio.Event()

    async def hang(messages: Sequence[MessageExt]) -> None:
        begun.set()
        await asyncio.Event().wait()

    consumer = await clients.started(Heard(before=hang), orderly=True)
    await producer.send(Message("T", b"x"), queue=Q0)
    await begun.wait()
    await consumer.shutdown()
    state = cluster.brokers["broker-a"].state
    assert state.locks.owner("G", Q0, state.clock.time_ms()) is None
    assert not state.offsets.committed("G", "T", 0)


async def test_sends_under_way_end_with_the_producer(
    clients: Clients, cluster: LocalCluster
) -> None:
    producer = await clients.producer()
    await producer.publish_queues("T")
    await cluster.kill_broker("broker-a")
    outcome = await producer.send_async(Message("T", b"x"))
    await producer.shutdown()
    done, _ = await asyncio.wait([outcome], timeout=PATIENCE_S)
    assert done
