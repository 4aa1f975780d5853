"""What fails comes again (C4), in three ways; flow control (C6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from rmqcore.client import (
    ConsumeContext,
    ConsumeResult,
    Producer,
    PullDelayed,
    PullSettings,
    PushSettings,
    QueueLimits,
)
from rmqcore.cluster import LocalCluster
from rmqcore.model import Message, MessageExt, MessageQueue
from rmqcore.protocol.codes import RequestCode
from rmqcore.timers import Timer
from rmqcore.transport import ManualClock
from tests.rmqcore.client.joining import Clients, Heard, Refused, send
from tests.support.waiting import PATIENCE_SECONDS as PATIENCE_S
from tests.support.waiting import until

Q0 = MessageQueue("T", "broker-a", 0)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def cluster(clock: ManualClock) -> AsyncIterator[LocalCluster]:
    """A cluster whose time stands still until a test moves it."""
    async with LocalCluster(clock=clock) as running:
        await running.create_topic("T", 4)
        yield running


async def later(clock: ManualClock, heard: Heard, count: int) -> None:
    """Let time pass until as many messages have been heard."""
    async with asyncio.timeout(PATIENCE_S):
        while len(heard.messages) < count:
            await clock.advance(0.5)
            await asyncio.sleep(0.002)


async def test_a_failed_message_comes_again_after_ten_seconds(
    clients: Clients, producer: Producer, clock: ManualClock
) -> None:
    heard = Heard(answer=ConsumeResult.RECONSUME_LATER)
    await clients.started(heard, clock=clock)
    await send(producer, ["bad"])
    await until(lambda: heard.bodies == ["bad"])
    failed_at = clock.time_ms()
    heard.answer = ConsumeResult.SUCCESS
    await later(clock, heard, 2)
    first, again = heard.messages
    assert clock.time_ms() - failed_at >= 10_000
    assert (again.topic, again.reconsume_times) == ("T", 1)
    assert again.msg_id == first.msg_id


async def test_a_listener_that_raises_or_returns_nothing_has_failed(
    clients: Clients, producer: Producer, clock: ManualClock
) -> None:
    heard = Heard()

    async def fail(messages: Sequence[MessageExt], context: ConsumeContext) -> object:
        heard.messages.extend(messages)
        if messages[0].reconsume_times:
            return ConsumeResult.SUCCESS
        if messages[0].body == b"raise":
            raise RuntimeError("the listener's own mistake")
        if messages[0].body == b"cancel":
            raise asyncio.CancelledError
        return None

    await clients.started(heard, listener=fail, clock=clock)
    await send(producer, ["raise", "nothing", "cancel"])
    await until(lambda: len(heard.messages) == 3)
    await later(clock, heard, 6)
    assert sorted(heard.bodies[3:]) == ["cancel", "nothing", "raise"]


async def test_only_the_rest_of_a_batch_is_tried_again(
    clients: Clients, producer: Producer, clock: ManualClock
) -> None:
    heard = Heard()

    async def half(
        messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        heard.messages.extend(messages)
        if not messages[0].reconsume_times:
            context.ack_index = 1
        return ConsumeResult.SUCCESS

    await producer.send_batch(
        [Message("T", str(n).encode()) for n in range(4)], queue=Q0
    )
    settings = PushSettings(batch_size=4)
    await clients.started(heard, listener=half, settings=settings, clock=clock)
    await until(lambda: len(heard.messages) == 4)
    await later(clock, heard, 6)
    assert sorted(heard.bodies[4:]) == ["2", "3"]


async def test_a_message_can_be_given_up_at_once(
    clients: Clients, producer: Producer, cluster: LocalCluster, clock: ManualClock
) -> None:
    async def give_up(
        messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        context.delay_level = -1
        return ConsumeResult.RECONSUME_LATER

    await clients.started(Heard(), listener=give_up, clock=clock)
    await send(producer, ["hopeless"])
    await until(lambda: cluster.brokers["broker-a"].state.topics.get("%DLQ%G"))


async def test_a_copy_is_sent_where_the_broker_cannot_give_back(
    clients: Clients, producer: Producer, clock: ManualClock
) -> None:
    refused = Refused(RequestCode.CONSUMER_SEND_MSG_BACK)
    heard = Heard(answer=ConsumeResult.RECONSUME_LATER)
    await clients.started(heard, clock=clock, hooks=[refused])
    await send(producer, ["bad"])
    await until(lambda: heard.bodies == ["bad"])
    heard.answer = ConsumeResult.SUCCESS
    await later(clock, heard, 2)
    again = heard.messages[1]
    assert (again.topic, again.reconsume_times) == ("T", 1)
    assert again.msg_id == heard.messages[0].msg_id


async def test_what_cannot_be_given_back_at_all_is_tried_here(
    clients: Clients, producer: Producer, clock: ManualClock
) -> None:
    refused = Refused(RequestCode.CONSUMER_SEND_MSG_BACK, RequestCode.SEND_MESSAGE_V2)
    heard = Heard(answer=ConsumeResult.RECONSUME_LATER)
    await clients.started(heard, clock=clock, hooks=[refused])
    await send(producer, ["bad"])
    await until(lambda: heard.bodies == ["bad"])
    heard.answer = ConsumeResult.SUCCESS
    await later(clock, heard, 2)
    assert [m.reconsume_times for m in heard.messages] == [0, 1]
    assert heard.messages[1].queue_offset == heard.messages[0].queue_offset


async def test_a_stuck_message_is_given_back_and_makes_way(
    clients: Clients, producer: Producer, cluster: LocalCluster, clock: ManualClock
) -> None:
    release = asyncio.Event()

    async def hang(messages: Sequence[MessageExt]) -> None:
        if messages[0].body == b"stuck" and not messages[0].reconsume_times:
            await release.wait()

    heard = Heard(before=hang)
    settings = PushSettings(consume_timeout_ms=2000)
    consumer = await clients.started(heard, settings=settings, clock=clock)
    for body in (b"stuck", b"fine"):
        await producer.send(Message("T", body), queue=Q0)
    await until(lambda: heard.bodies == ["fine"])
    await consumer.instance.run_timer(Timer.PERSIST_OFFSETS)
    state = cluster.brokers["broker-a"].state
    assert not state.offsets.committed("G", "T", 0)
    await clock.advance(2.1)
    await consumer.instance.run_timer(Timer.EXPIRE_STUCK)
    await consumer.instance.run_timer(Timer.PERSIST_OFFSETS)
    await until(lambda: state.offsets.committed("G", "T", 0) == 2)
    release.set()
    await later(clock, heard, 3)
    assert sorted(heard.bodies) == ["fine", "stuck", "stuck"]


async def test_flow_control_sets_in_behind_a_slow_listener(
    clients: Clients, producer: Producer, clock: ManualClock
) -> None:
    release = asyncio.Event()

    async def hang(messages: Sequence[MessageExt]) -> None:
        await release.wait()

    batch = [Message("T", str(n).encode()) for n in range(20)]
    await producer.send_batch(batch, queue=Q0)
    heard = Heard(before=hang)
    pull = PullSettings(batch_size=4, limits=QueueLimits(max_messages=5))
    settings = PushSettings(threads=1, pull=pull)
    await clients.started(heard, settings=settings, clock=clock)
    await until(lambda: [e for e in heard.events if isinstance(e, PullDelayed)])
    (delayed,) = [e for e in heard.events if isinstance(e, PullDelayed)]
    assert delayed.queue == Q0
    assert delayed.reason == "8 messages cached, limit 5"
    release.set()
    await later(clock, heard, 20)
    assert sorted(map(int, heard.bodies)) == list(range(20))
