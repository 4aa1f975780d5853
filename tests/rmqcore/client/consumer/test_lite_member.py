"""What a lite pull member answers to timers and brokers."""

from __future__ import annotations

import pytest

from rmqcore.client import Producer
from rmqcore.cluster import LocalCluster
from rmqcore.model import ConsumeType, MessageQueue
from rmqcore.timers import Timer
from tests.rmqcore.client.records import message
from tests.support.waiting import until

from .test_lite_pull import (
    Q0,
    Pollers,
    committed,
    fill,
    polled,
    pollers,
)

__all__ = ["pollers"]


async def test_it_tells_that_it_polls(pollers: Pollers, producer: Producer) -> None:
    await fill(producer, Q0, 3)
    consumer = await pollers.subscribed()
    await polled(consumer, 3)
    member = consumer.instance.members["L"]
    info = member.running_info(with_stacks=False)
    assert info.properties["PROP_CONSUME_TYPE"] == ConsumeType.PULL.value
    assert info.properties["pullBatchSize"] == "10"
    assert len(info.queues) == 4
    assert member.consumer_data().consume_type is ConsumeType.PULL
    answer = await member.consume_directly([message(1)])
    assert answer.consume_result == "CR_LATER"


async def test_timers_find_nothing_to_do_for_assigned_queues(
    pollers: Pollers,
) -> None:
    consumer = await pollers.assigned(Q0)
    for timer in Timer:
        await consumer.instance.run_timer(timer)
    assert consumer.queues == [Q0]


async def test_a_reset_moves_what_is_polled_next(
    pollers: Pollers, producer: Producer
) -> None:
    await fill(producer, Q0, 4)
    consumer = await pollers.assigned(Q0)
    await polled(consumer, 4)
    member = consumer.instance.members["L"]
    other = MessageQueue("T", "broker-a", 3)
    await member.reset_offsets("T", {Q0: 2, other: 9})
    assert member.offsets("T")[Q0] == 2
    assert await polled(consumer, 2) == ["2", "3"]


async def test_an_offset_beyond_the_end_is_corrected(
    pollers: Pollers, producer: Producer, caplog: pytest.LogCaptureFixture
) -> None:
    await fill(producer, Q0, 2)
    consumer = await pollers.assigned(Q0)
    await polled(consumer, 2)
    consumer.seek(Q0, 100)
    await until(lambda: "offset 100 is illegal" in caplog.text)
    await fill(producer, Q0, 1)
    assert await polled(consumer, 1) == ["0"]


async def test_a_queue_that_moves_takes_uncommitted_messages_along(
    pollers: Pollers, producer: Producer, cluster: LocalCluster
) -> None:
    last = MessageQueue("T", "broker-a", 3)
    await fill(producer, last, 3)
    one = await pollers.subscribed("c1")
    await polled(one, 3)
    two = await pollers.subscribed("c2")
    await until(lambda: last in two.queues)
    # Polled by the first but never committed: the second begins with them.
    assert await polled(two, 3) == ["0", "1", "2"]
    assert not committed(cluster, 3)


async def test_a_poll_passes_over_what_was_given_up(
    pollers: Pollers, producer: Producer
) -> None:
    await fill(producer, Q0, 2)
    consumer = await pollers.assigned(Q0)
    member = consumer.instance.members["L"]
    await until(lambda: member.context.held[Q0].message_count == 2)  # type: ignore[attr-defined]
    await consumer.assign([])
    assert await consumer.poll(timeout_s=0.01) == []


async def test_it_is_a_context_manager(pollers: Pollers) -> None:
    consumer = pollers.made()
    await consumer.assign([Q0])
    async with consumer:
        assert consumer.queues == [Q0]
        assert (consumer.group, consumer.client_id) == ("L", "ip@c1")
    assert consumer.queues == []
