"""Clustering consumption on a real cluster: dividing, consuming, handing over."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from rmqcore.client import (
    ConsumeResult,
    InstanceRegistry,
    OffsetCommitted,
    Producer,
    PushSettings,
)
from rmqcore.cluster import LocalCluster
from rmqcore.errors import (
    ArgumentError,
    ConnectError,
    StateError,
    UnknownStrategyError,
)
from rmqcore.model import Message, MessageExt, MessageQueue
from rmqcore.timers import Timer
from tests.rmqcore.client.joining import Clients, Heard, queue_ids, send
from tests.support.waiting import until


def committed(cluster: LocalCluster) -> dict[int, int]:
    """Return the offsets of group G on T that the broker has."""
    offsets = cluster.brokers["broker-a"].state.offsets
    return dict(offsets.committed_queues("G", "T"))


async def test_each_message_is_consumed_once_by_the_group(
    clients: Clients, producer: Producer
) -> None:
    one, two = Heard(), Heard()
    await clients.started(one, "c1")
    second = await clients.started(two, "c2")
    await until(lambda: queue_ids(second) == [2, 3])
    await send(producer, range(20))
    await until(lambda: len(one.bodies) + len(two.bodies) >= 20)
    assert sorted(map(int, one.bodies + two.bodies)) == list(range(20))
    assert one.bodies
    assert two.bodies


async def test_a_join_and_a_leave_divide_anew(clients: Clients) -> None:
    first = await clients.started(Heard(), "c1")
    assert queue_ids(first) == [0, 1, 2, 3]
    second = await clients.started(Heard(), "c2")
    third = await clients.started(Heard(), "c3")
    await until(lambda: queue_ids(first) == [0, 1])
    await until(lambda: (queue_ids(second), queue_ids(third)) == ([2], [3]))
    await first.shutdown()
    await until(lambda: (queue_ids(second), queue_ids(third)) == ([0, 1], [2, 3]))


async def test_a_member_too_many_holds_nothing(clients: Clients) -> None:
    consumers = [clients.consumer(Heard(), f"c{n}") for n in range(1, 6)]
    for consumer in consumers:
        await consumer.start()
    await until(
        lambda: [queue_ids(each) for each in consumers] == [[0], [1], [2], [3], []]
    )


async def test_every_change_of_the_part_is_told(clients: Clients) -> None:
    heard = Heard()
    first = await clients.started(heard, "c1")
    second = await clients.started(Heard(), "c2")
    await until(lambda: len(heard.allocations()) == 2)
    await second.shutdown()
    await until(lambda: len(heard.allocations()) == 3)
    await first.shutdown()
    parts = [[q.queue_id for q in part] for part in heard.allocations()]
    assert parts == [[0, 1, 2, 3], [0, 1], [0, 1, 2, 3], []]


async def test_another_strategy_divides_otherwise(clients: Clients) -> None:
    first = clients.consumer(Heard(), "c1", strategy="AVG_BY_CIRCLE")
    second = clients.consumer(Heard(), "c2", strategy="AVG_BY_CIRCLE")
    await first.start()
    await second.start()
    await until(lambda: (queue_ids(first), queue_ids(second)) == ([0, 2], [1, 3]))


async def test_the_strategy_is_switched_while_running(clients: Clients) -> None:
    first = await clients.started(Heard(), "c1")
    second = await clients.started(Heard(), "c2")
    await until(lambda: (queue_ids(first), queue_ids(second)) == ([0, 1], [2, 3]))
    for consumer in (first, second):
        consumer.switch_strategy("AVG_BY_CIRCLE")
    await until(lambda: (queue_ids(first), queue_ids(second)) == ([0, 2], [1, 3]))
    info = first.instance.members["G"].running_info(with_stacks=False)
    reported = info.properties["allocateMessageQueueStrategy"]
    assert "AllocateMessageQueueAveragelyByCircle" in reported


async def test_a_strategy_that_cannot_be_changes_nothing(clients: Clients) -> None:
    only = await clients.started(Heard(), "c1")
    with pytest.raises(UnknownStrategyError, match="FAIR"):
        only.switch_strategy("FAIR")
    with pytest.raises(ArgumentError, match="needs the option rooms"):
        only.switch_strategy("MACHINE_ROOM")
    await only.rebalance()
    assert queue_ids(only) == [0, 1, 2, 3]


async def test_a_strategy_can_be_switched_before_the_start(clients: Clients) -> None:
    only = clients.consumer(Heard(), "c1")
    only.switch_strategy("CONFIG", {"config": [MessageQueue("T", "broker-a", 2)]})
    await only.start()
    await until(lambda: queue_ids(only) == [2])


async def test_progress_is_persisted_when_leaving(
    clients: Clients, producer: Producer, cluster: LocalCluster
) -> None:
    heard = Heard()
    consumer = await clients.started(heard)
    await send(producer, range(8))
    await until(lambda: len(heard.bodies) == 8)
    await consumer.shutdown()
    assert committed(cluster) == {0: 2, 1: 2, 2: 2, 3: 2}


async def test_the_next_owner_goes_on_where_the_last_one_was(
    clients: Clients, producer: Producer
) -> None:
    one, two = Heard(), Heard()
    first = await clients.started(one)
    await send(producer, range(8))
    await until(lambda: len(one.bodies) == 8)
    await first.shutdown()
    await send(producer, range(8, 16))
    await clients.started(two)
    await until(lambda: len(two.bodies) == 8)
    assert sorted(map(int, two.bodies)) == list(range(8, 16))


async def test_the_timer_persists_and_tells(
    clients: Clients, producer: Producer
) -> None:
    heard = Heard()
    consumer = await clients.started(heard)
    await send(producer, range(4))
    await until(lambda: len(heard.bodies) == 4)
    await consumer.instance.run_timer(Timer.PERSIST_OFFSETS)
    told = [e for e in heard.events if isinstance(e, OffsetCommitted)]
    assert {(e.queue.queue_id, e.offset) for e in told if e.queue.topic == "T"} == {
        (0, 1),
        (1, 1),
        (2, 1),
        (3, 1),
    }
    await consumer.instance.run_timer(Timer.PERSIST_OFFSETS)
    again = [e for e in heard.events if isinstance(e, OffsetCommitted)]
    assert again == told


async def test_only_the_tags_asked_for_are_consumed(
    clients: Clients, producer: Producer
) -> None:
    heard = Heard()
    await clients.started(heard, tags="a || b")
    for tag in ("a", "b", "c", ""):
        await send(producer, [tag or "none"] * 4, tags=tag)
    await until(lambda: len(heard.bodies) == 8)
    assert sorted(heard.bodies) == ["a"] * 4 + ["b"] * 4


async def test_tags_of_one_hash_are_told_apart(
    clients: Clients, producer: Producer
) -> None:
    # "Aa" and "BB" have the same Java hash, so the broker hands out both.
    heard = Heard()
    await clients.started(heard, tags="Aa")
    await send(producer, ["other"], tags="BB")
    await send(producer, ["mine"], tags="Aa")
    await until(lambda: heard.bodies == ["mine"])


async def test_compressed_bodies_arrive_whole(
    clients: Clients, producer: Producer
) -> None:
    heard = Heard()
    await clients.started(heard)
    await producer.send(Message("T", b"x" * 100_000))
    await until(lambda: heard.messages)
    assert heard.messages[0].body == b"x" * 100_000


async def test_listeners_run_at_the_same_time(
    clients: Clients, producer: Producer
) -> None:
    all_here = asyncio.Barrier(4)

    async def meet(messages: Sequence[MessageExt]) -> None:
        await all_here.wait()

    heard = Heard(before=meet)
    await clients.started(heard, settings=PushSettings(threads=4))
    await send(producer, range(4))
    await until(lambda: len(heard.bodies) == 4)


async def test_a_plain_listener_runs_in_threads(
    clients: Clients, producer: Producer
) -> None:
    seen: list[tuple[str, bytes]] = []

    def listen(messages: Sequence[MessageExt], context: object) -> ConsumeResult:
        seen.append((threading.current_thread().name, messages[0].body))
        return ConsumeResult.SUCCESS

    await clients.started(Heard(), listener=listen)
    await send(producer, range(4))
    await until(lambda: len(seen) == 4)
    assert all(name.startswith("consume-G") for name, _ in seen)


async def test_batches_are_as_large_as_asked(
    clients: Clients, producer: Producer
) -> None:
    sizes: list[int] = []

    async def note(messages: Sequence[MessageExt]) -> None:
        sizes.append(len(messages))

    queue = MessageQueue("T", "broker-a", 0)
    await producer.send_batch([Message("T", b"x") for _ in range(10)], queue=queue)
    await clients.started(Heard(before=note), settings=PushSettings(batch_size=4))
    await until(lambda: sum(sizes) == 10)
    assert sizes == [4, 4, 2]


async def test_shutdown_waits_for_listeners_at_work(
    clients: Clients, producer: Producer, cluster: LocalCluster
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(messages: Sequence[MessageExt]) -> None:
        begun.set()
        await go_on.wait()

    heard = Heard(before=wait)
    consumer = await clients.started(heard)
    await send(producer, ["slow"])
    await begun.wait()
    leaving = asyncio.create_task(consumer.shutdown())
    await asyncio.sleep(0)
    assert not leaving.done()
    go_on.set()
    await leaving
    assert heard.bodies == ["slow"]
    assert sum(committed(cluster).values()) == 1


async def test_a_pause_stops_pulling(clients: Clients, producer: Producer) -> None:
    heard = Heard()
    consumer = await clients.started(heard)
    consumer.pause()
    assert consumer.paused
    consumer.resume()
    await send(producer, ["x"])
    await until(lambda: heard.bodies == ["x"])
    assert not consumer.paused


async def test_a_topic_can_be_subscribed_while_running(
    clients: Clients, producer: Producer, cluster: LocalCluster
) -> None:
    await cluster.create_topic("U", 2)
    heard = Heard()
    consumer = await clients.started(heard)
    consumer.subscribe("U")
    await until(lambda: queue_ids(consumer, "U") == [0, 1])
    await send(producer, ["u"], topic="U")
    await until(lambda: heard.bodies == ["u"])
    consumer.unsubscribe("U")
    await until(lambda: queue_ids(consumer, "U") == [])


async def test_a_broker_that_dies_and_comes_back_is_consumed_again(
    clients: Clients, producer: Producer, cluster: LocalCluster
) -> None:
    heard = Heard()
    consumer = await clients.started(heard)
    port = int(cluster.broker_addresses["broker-a"].rpartition(":")[2])
    await cluster.kill_broker("broker-a")
    await cluster.start_broker("broker-a", port=port)
    await consumer.instance.run_timer(Timer.REFRESH_ROUTES)
    await send(producer, ["again"])
    await until(lambda: "again" in heard.bodies)


# Refusals


async def test_the_same_group_twice_on_one_client_is_an_error(clients: Clients) -> None:
    registry = InstanceRegistry()
    await clients.started(Heard(), registry=registry)
    twin = clients.consumer(Heard(), registry=registry)
    with pytest.raises(StateError, match="group G has been started"):
        await twin.start()


async def test_two_groups_share_one_client(clients: Clients) -> None:
    registry = InstanceRegistry()
    one = await clients.started(Heard(), registry=registry)
    two = await clients.started(Heard(), registry=registry, group="H")
    assert one.instance is two.instance
    await one.shutdown()
    assert queue_ids(two) == [0, 1, 2, 3]


async def test_one_client_id_in_two_processes_takes_the_same_part_twice(
    clients: Clients,
) -> None:
    one = await clients.started(Heard(), "same")
    two = await clients.started(Heard(), "same")
    await until(lambda: queue_ids(one) == queue_ids(two) == [0, 1])


async def test_starting_twice_is_an_error(clients: Clients) -> None:
    consumer = await clients.started(Heard())
    with pytest.raises(StateError, match="has been started"):
        await consumer.start()


async def test_what_needs_a_running_consumer_says_so(clients: Clients) -> None:
    consumer = clients.consumer(Heard())
    with pytest.raises(StateError, match="not running"):
        consumer.pause()
    with pytest.raises(StateError, match="not running"):
        _ = consumer.instance
    assert consumer.queues == []
    assert not consumer.paused
    await consumer.shutdown()
    await consumer.abandon()


async def test_without_a_name_server_starting_fails() -> None:
    clients = Clients("127.0.0.1:1")
    consumer = clients.consumer(Heard())
    with pytest.raises(ConnectError, match=r"127\.0\.0\.1:1"):
        await consumer.start()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"group": " "}, ArgumentError),
        ({"strategy": "NO_SUCH"}, UnknownStrategyError),
        ({"message_model": "SHOUTING"}, ValueError),
        ({"tags": "||"}, ArgumentError),
        ({"topic": ""}, ArgumentError),
    ],
)
def test_wrong_options_are_refused(options: dict[str, str], error: type) -> None:
    with pytest.raises(error):
        Clients("127.0.0.1:1").consumer(Heard(), **options)
