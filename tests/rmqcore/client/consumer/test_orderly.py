"""Orderly consumption on a real cluster: one at a time, under the broker's lock."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from rmqcore.client import (
    ConsumeContext,
    ConsumeResult,
    LockGained,
    LockLost,
    Producer,
    PushSettings,
    by_hash,
)
from rmqcore.cluster import LocalCluster
from rmqcore.model import Message, MessageExt, MessageQueue
from rmqcore.timers import Timer
from tests.rmqcore.client.joining import Clients, Heard, queue_ids, send
from tests.support.waiting import until

Q0 = MessageQueue("T", "broker-a", 0)


def lock_owner(cluster: LocalCluster, queue: MessageQueue = Q0) -> str | None:
    state = cluster.brokers["broker-a"].state
    return state.locks.owner("G", queue, state.clock.time_ms())


def steal_lock(cluster: LocalCluster, queue: MessageQueue = Q0) -> None:
    state = cluster.brokers["broker-a"].state
    owner = lock_owner(cluster, queue)
    assert owner is not None
    state.locks.unlock("G", owner, [queue])
    state.locks.lock("G", "thief", [queue], state.clock.time_ms())


def give_lock_back(cluster: LocalCluster) -> None:
    cluster.brokers["broker-a"].state.locks.unlock("G", "thief", [Q0])


async def test_messages_of_a_key_come_in_order(
    clients: Clients, producer: Producer
) -> None:
    heard = Heard()
    await clients.started(heard, orderly=True)
    for number in range(40):
        key = f"k{number % 3}"
        message = Message.of("T", str(number).encode(), keys=[key])
        await producer.send(message, select=by_hash(key))
    await until(lambda: len(heard.bodies) == 40)
    for remainder in range(3):
        mine = [int(b) for b in heard.bodies if int(b) % 3 == remainder]
        assert mine == sorted(mine)


async def test_one_listener_at_a_time_per_queue(
    clients: Clients, producer: Producer
) -> None:
    at_work: set[int] = set()

    async def work(messages: Sequence[MessageExt]) -> None:
        queue_id = messages[0].queue_id
        assert queue_id not in at_work
        at_work.add(queue_id)
        await asyncio.sleep(0)
        at_work.remove(queue_id)

    heard = Heard(before=work)
    await clients.started(heard, orderly=True)
    await send(producer, range(40))
    await until(lambda: len(heard.bodies) == 40)


async def test_queues_are_locked_while_held(
    clients: Clients, cluster: LocalCluster
) -> None:
    heard = Heard()
    consumer = await clients.started(heard, orderly=True)
    assert lock_owner(cluster) == consumer.client_id
    gained = {e.queue for e in heard.events if isinstance(e, LockGained)}
    assert Q0 in gained
    await consumer.shutdown()
    assert lock_owner(cluster) is None


async def test_a_queue_locked_by_somebody_else_is_not_taken(
    clients: Clients, cluster: LocalCluster
) -> None:
    state = cluster.brokers["broker-a"].state
    state.locks.lock("G", "thief", [Q0], state.clock.time_ms())
    consumer = await clients.started(Heard(), orderly=True)
    assert queue_ids(consumer) == [1, 2, 3]
    give_lock_back(cluster)
    # It is asked for again every half second.
    await until(lambda: queue_ids(consumer) == [0, 1, 2, 3])


async def test_a_queue_moves_once_its_listener_has_finished(
    clients: Clients, producer: Producer, cluster: LocalCluster
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(messages: Sequence[MessageExt]) -> None:
        begun.set()
        await go_on.wait()

    one, two = Heard(before=wait), Heard()
    queue = MessageQueue("T", "broker-a", 3)
    first = await clients.started(one, "c1", orderly=True)
    for number in range(3):
        await producer.send(Message("T", str(number).encode()), queue=queue)
    await begun.wait()
    second = await clients.started(two, "c2", orderly=True)
    await until(lambda: queue_ids(first) == [0, 1])
    assert lock_owner(cluster, queue) == first.client_id
    go_on.set()
    await until(lambda: len(two.bodies) == 2)
    assert (one.bodies, two.bodies) == (["0"], ["1", "2"])
    assert queue_ids(second) == [2, 3]


async def test_a_lost_lock_stops_consuming_until_it_is_back(
    clients: Clients, producer: Producer, cluster: LocalCluster
) -> None:
    heard = Heard()
    consumer = await clients.started(heard, orderly=True)
    steal_lock(cluster)
    await consumer.instance.run_timer(Timer.RENEW_LOCKS)
    assert [e.queue for e in heard.events if isinstance(e, LockLost)] == [Q0]
    await producer.send(Message("T", b"locked out"), queue=Q0)
    await producer.send(Message("T", b"fine"), queue=MessageQueue("T", "broker-a", 1))
    await until(lambda: heard.bodies == ["fine"])
    give_lock_back(cluster)
    await consumer.instance.run_timer(Timer.RENEW_LOCKS)
    await until(lambda: heard.bodies == ["fine", "locked out"])


async def test_progress_of_a_lost_queue_is_not_persisted(
    clients: Clients, producer: Producer, cluster: LocalCluster
) -> None:
    heard = Heard()
    consumer = await clients.started(heard, orderly=True)
    await producer.send(Message("T", b"mine"), queue=Q0)
    await until(lambda: heard.bodies)
    steal_lock(cluster)
    await consumer.instance.run_timer(Timer.RENEW_LOCKS)
    await consumer.instance.run_timer(Timer.PERSIST_OFFSETS)
    stored = cluster.brokers["broker-a"].state.offsets.committed_queues("G", "T")
    assert not stored.get(0)


async def test_a_queue_gained_anew_begins_where_its_last_owner_was(
    clients: Clients, producer: Producer, cluster: LocalCluster
) -> None:
    heard = Heard()
    consumer = await clients.started(heard, orderly=True)
    steal_lock(cluster)
    await consumer.instance.run_timer(Timer.RENEW_LOCKS)
    for number in range(4):
        await producer.send(Message("T", str(number).encode()), queue=Q0)
    address = cluster.broker_addresses["broker-a"]
    await consumer.instance.calls.update_offset(address, "G", Q0, 3, oneway=False)
    give_lock_back(cluster)
    await consumer.instance.run_timer(Timer.RENEW_LOCKS)
    await until(lambda: heard.bodies == ["3"])


@pytest.mark.parametrize("failure", [ConsumeResult.SUSPEND, None])
async def test_a_failure_is_tried_again_before_what_follows(
    clients: Clients, producer: Producer, failure: ConsumeResult | None
) -> None:
    seen: list[tuple[bytes, int]] = []

    async def fail_twice(
        messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult | None:
        seen.append((messages[0].body, messages[0].reconsume_times))
        if messages[0].body == b"0" and len(seen) <= 2:
            context.suspend_ms = 0
            return failure
        return ConsumeResult.SUCCESS

    for number in range(2):
        await producer.send(Message("T", str(number).encode()), queue=Q0)
    await clients.started(Heard(), listener=fail_twice, orderly=True)
    await until(lambda: len(seen) == 4)
    assert seen == [(b"0", 0), (b"0", 1), (b"0", 2), (b"1", 0)]


async def test_past_its_last_attempt_a_message_makes_way(
    clients: Clients, producer: Producer, cluster: LocalCluster
) -> None:
    seen: list[bytes] = []

    async def refuse_first(
        messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        seen.append(messages[0].body)
        context.suspend_ms = 0
        is_bad = messages[0].body == b"bad"
        return ConsumeResult.SUSPEND if is_bad else ConsumeResult.SUCCESS

    for body in (b"bad", b"good"):
        await producer.send(Message("T", body), queue=Q0)
    settings = PushSettings(max_reconsume_times=1)
    await clients.started(
        Heard(), listener=refuse_first, orderly=True, settings=settings
    )
    await until(lambda: b"good" in seen)
    assert seen == [b"bad", b"bad", b"good"]
    # The group holds locks, so the broker puts it among the dead letters at once.
    await until(lambda: cluster.brokers["broker-a"].state.topics.get("%DLQ%G"))
