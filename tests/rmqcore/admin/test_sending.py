"""Sending a message and having one consumed once more, on the embedded cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from rmqcore.admin import Admin
from rmqcore.client import ConsumeContext, ConsumeResult, PushConsumer
from rmqcore.cluster import LocalCluster
from rmqcore.errors import ResponseError, RouteError
from rmqcore.model import Message, MessageExt, MessageQueue
from tests.support.waiting import until


@pytest.fixture
async def cluster() -> AsyncIterator[LocalCluster]:
    async with LocalCluster() as cluster:
        await cluster.create_topic("T", 2)
        yield cluster


@pytest.fixture
async def admin(cluster: LocalCluster) -> AsyncIterator[Admin]:
    async with Admin(cluster.nameserver_address) as admin:
        yield admin


async def test_a_message_is_sent_and_found_by_its_ids(admin: Admin) -> None:
    message = Message.of("T", b"hello", tags="red", keys=["k"])
    sent = await admin.send_message(message, queue=MessageQueue("T", "broker-a", 1))
    found = await admin.message_by_id(sent.offset_msg_id)
    assert found is not None
    assert (found.body, found.tags, found.msg_id) == (b"hello", "red", sent.unique_key)
    assert (found.queue_id, found.queue_offset) == (1, sent.queue_offset)
    assert sent.queue == MessageQueue("T", "broker-a", 1)


async def test_a_queue_is_picked_where_none_is_named(admin: Admin) -> None:
    sent = await admin.send_message(Message.of("T", b"hello"))
    assert sent.queue.queue_id in (0, 1)


async def test_sending_creates_no_topic(admin: Admin) -> None:
    with pytest.raises(ResponseError) as refused:
        await admin.send_message(Message.of("nowhere", b"hello"))
    assert refused.value.code == 17
    assert "nowhere" not in await admin.topic_names()
    absent = MessageQueue("T", "broker-a", 9)
    with pytest.raises(RouteError, match="no queue to write"):
        await admin.send_message(Message.of("T", b""), queue=absent)


async def test_a_client_consumes_a_message_once_more(
    admin: Admin, cluster: LocalCluster
) -> None:
    seen: list[bytes] = []

    async def listener(
        messages: Sequence[MessageExt], _context: ConsumeContext
    ) -> ConsumeResult:
        seen.extend(message.body for message in messages)
        return ConsumeResult.SUCCESS

    consumer = PushConsumer(cluster.nameserver_address, group="G", listener=listener)
    consumer.subscribe("T")
    await consumer.start()
    sent = await admin.send_message(Message.of("T", b"hello"))
    await until(lambda: seen == [b"hello"])
    message = await admin.message_by_id(sent.offset_msg_id)
    assert message is not None
    result = await admin.consume_directly("G", consumer.client_id, message)
    assert result.consume_result == "CR_SUCCESS"
    assert seen == [b"hello", b"hello"]
    with pytest.raises(ResponseError, match="not online"):
        await admin.consume_directly("G", "10.0.0.9@nobody", message)
    await consumer.shutdown()
