"""What brokers ask of clients, asked through a real broker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from rmqcore.client import ConsumeResult, Producer, PushConsumer
from rmqcore.client.membership.running_info import stacks
from rmqcore.cluster import LocalCluster
from rmqcore.loop_thread import LoopThread
from rmqcore.model import ConsumeType, Message, MessageQueue
from rmqcore.protocol.bodies import (
    decode_consume_directly_result,
    decode_consumer_running_info,
    decode_consumer_status,
    encode_queue_offsets,
)
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    ConsumeMessageDirectlyRequestHeader,
    GetConsumerRunningInfoRequestHeader,
    GetConsumerStatusRequestHeader,
    Header,
    ResetOffsetRequestHeader,
    encode_header,
)
from rmqcore.transport import Channel, connect
from tests.rmqcore.client.joining import Clients, Heard, queue_ids, send
from tests.rmqcore.protocol.records import encode_record
from tests.support.waiting import until

QUEUES = [MessageQueue("T", "broker-a", number) for number in range(4)]


@pytest.fixture
async def admin(cluster: LocalCluster) -> AsyncIterator[Channel]:
    """A plain connection to the broker."""
    channel = await connect(cluster.broker_addresses["broker-a"])
    yield channel
    await channel.close()


async def ask(
    channel: Channel, code: int, header: Header, body: bytes = b""
) -> RemotingCommand:
    command = RemotingCommand.request(code, encode_header(header), body)
    return await channel.request(command)


def running_info_header(
    consumer: PushConsumer, *, stacks: bool = False
) -> GetConsumerRunningInfoRequestHeader:
    return GetConsumerRunningInfoRequestHeader(
        consumer_group=consumer.group,
        client_id=consumer.client_id,
        jstack_enable=stacks,
    )


async def test_running_info_tells_queues_and_strategy(
    clients: Clients, producer: Producer, admin: Channel
) -> None:
    heard = Heard()
    consumer = await clients.started(heard, strategy="AVG_BY_CIRCLE", tags="a")
    await send(producer, range(8), tags="a")
    await until(lambda: len(heard.bodies) == 8)
    answer = await ask(
        admin, RequestCode.GET_CONSUMER_RUNNING_INFO, running_info_header(consumer)
    )
    info = decode_consumer_running_info(answer.body)
    assert set(QUEUES) <= set(info.queues)
    assert info.queues[QUEUES[0]].commit_offset == 2
    assert info.queues[QUEUES[0]].cached_msg_count == 0
    assert "T" in info.statuses
    assert {s.topic: s.sub_string for s in info.subscriptions}["T"] == "a"
    strategy = info.properties["allocateMessageQueueStrategy"]
    assert "AllocateMessageQueueAveragelyByCircle@" in strategy
    assert info.jstack is None


async def test_running_info_has_the_properties_that_tools_look_for(
    clients: Clients, admin: Channel, cluster: LocalCluster
) -> None:
    consumer = await clients.started(Heard(), orderly=True)
    answer = await ask(
        admin,
        RequestCode.GET_CONSUMER_RUNNING_INFO,
        running_info_header(consumer, stacks=True),
    )
    info = decode_consumer_running_info(answer.body)
    found = info.properties
    assert found["PROP_CONSUME_TYPE"] == ConsumeType.PUSH.value
    assert found["PROP_CONSUMEORDERLY"] == "true"
    assert found["PROP_THREADPOOL_CORE_SIZE"] == "20"
    assert found["PROP_NAMESERVER_ADDR"] == f"{cluster.nameserver_address};"
    assert found["PROP_CLIENT_VERSION"].startswith("V")
    assert int(found["PROP_CONSUMER_START_TIMESTAMP"]) > 0
    assert found["messageModel"] == "CLUSTERING"
    assert info.queues[QUEUES[0]].locked
    assert "thread " in (info.jstack or "")


async def test_stacks_show_what_runs_on_other_loops() -> None:
    async def waits_in_vain() -> None:
        await asyncio.sleep(3600)

    where = f"in {waits_in_vain.__name__}"
    assert where not in stacks()
    thread = LoopThread("other")
    thread.start()
    thread.submit(waits_in_vain())
    await until(lambda: where in stacks())
    thread.stop()
    assert where not in stacks()


async def test_a_client_tells_its_own_offsets(
    clients: Clients, producer: Producer
) -> None:
    heard = Heard()
    consumer = await clients.started(heard)
    await send(producer, range(4))
    await until(lambda: len(heard.bodies) == 4)
    assert consumer.instance.members["G"].offsets("T") == dict.fromkeys(QUEUES, 1)


async def status_from(consumer: PushConsumer, group: str) -> RemotingCommand:
    """Ask a consumer's own client as its broker would."""
    header = GetConsumerStatusRequestHeader(topic="T", group=group)
    command = RemotingCommand.request(
        RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT, encode_header(header)
    )
    answer = consumer.instance._answer(None, command)
    assert isinstance(answer, RemotingCommand)
    return answer


async def test_the_status_answer_holds_the_offsets(
    clients: Clients, producer: Producer
) -> None:
    heard = Heard()
    consumer = await clients.started(heard)
    await send(producer, range(4))
    await until(lambda: len(heard.bodies) == 4)
    answer = await status_from(consumer, "G")
    assert decode_consumer_status(answer.body).offsets == dict.fromkeys(QUEUES, 1)


async def test_a_group_that_is_not_here_is_named(clients: Clients) -> None:
    consumer = await clients.started(Heard())
    answer = await status_from(consumer, "STRANGER")
    assert answer.code == 1
    assert "STRANGER" in (answer.remark or "")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (ConsumeResult.SUCCESS, "CR_SUCCESS"),
        (ConsumeResult.RECONSUME_LATER, "CR_LATER"),
        (None, "CR_THROW_EXCEPTION"),
    ],
)
async def test_a_message_can_be_consumed_directly(
    clients: Clients,
    producer: Producer,
    admin: Channel,
    answer: ConsumeResult,
    expected: str,
) -> None:
    heard = Heard()
    consumer = await clients.started(heard)
    await send(producer, ["again"])
    await until(lambda: heard.messages)
    heard.answer = answer
    header = ConsumeMessageDirectlyRequestHeader(
        consumer_group="G", client_id=consumer.client_id, broker_name="broker-a"
    )
    command = RemotingCommand.request(
        RequestCode.CONSUME_MESSAGE_DIRECTLY,
        encode_header(header),
        encode_record(heard.messages[0]),
    )
    reply = await consumer.instance._answer(None, command)
    result = decode_consume_directly_result(reply.body)
    assert result.consume_result == expected
    assert heard.bodies == ["again", "again"]


async def test_a_broken_record_is_not_consumed(clients: Clients) -> None:
    consumer = await clients.started(Heard())
    header = ConsumeMessageDirectlyRequestHeader(consumer_group="G")
    command = RemotingCommand.request(
        RequestCode.CONSUME_MESSAGE_DIRECTLY, encode_header(header), b"broken"
    )
    reply = await consumer.instance._answer(None, command)
    assert reply.code == 1
    assert "cut off" in (reply.remark or "")


async def test_a_reset_goes_on_from_the_offsets_given(
    clients: Clients, producer: Producer, cluster: LocalCluster
) -> None:
    heard = Heard()
    consumer = await clients.started(heard)
    await send(producer, range(8))
    await until(lambda: len(heard.bodies) == 8)
    reset_offsets(consumer, {QUEUES[0]: 1, QUEUES[1]: 0})
    await until(lambda: len(heard.bodies) == 11)
    await until(lambda: queue_ids(consumer) == [0, 1, 2, 3])
    again = sorted((m.queue_id, m.queue_offset) for m in heard.messages[8:])
    assert again == [(0, 1), (1, 0), (1, 1)]


async def test_a_reset_during_listening_is_not_undone(
    clients: Clients, producer: Producer, cluster: LocalCluster
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(messages: object) -> None:
        begun.set()
        await go_on.wait()

    heard = Heard(before=wait)
    consumer = await clients.started(heard)
    await producer.send(Message("T", b"x"), queue=QUEUES[0])
    await begun.wait()
    reset_offsets(consumer, {QUEUES[0]: 0})
    await until(lambda: queue_ids(consumer) == [1, 2, 3])
    go_on.set()
    await until(lambda: heard.bodies == ["x", "x"])
    await consumer.shutdown()
    offsets = cluster.brokers["broker-a"].state.offsets
    assert offsets.committed("G", "T", 0) == 1


def reset_offsets(consumer: PushConsumer, offsets: dict[MessageQueue, int]) -> None:
    header = ResetOffsetRequestHeader(topic="T", group="G", timestamp=0, is_force=True)
    command = RemotingCommand.request(
        RequestCode.RESET_CONSUMER_CLIENT_OFFSET,
        encode_header(header),
        encode_queue_offsets(offsets),
        oneway=True,
    )
    assert consumer.instance._answer(None, command) is None


async def test_other_requests_are_refused(clients: Clients) -> None:
    consumer = await clients.started(Heard())
    channel = next(iter(consumer.instance.pool._channels.values()))
    answer = consumer.instance._answer(channel, RemotingCommand.request(9999))
    assert answer.code == 3
    assert "9999" in (answer.remark or "")


async def test_news_of_strange_groups_change_nothing(clients: Clients) -> None:
    consumer = await clients.started(Heard())
    for code in (
        RequestCode.NOTIFY_CONSUMER_IDS_CHANGED,
        RequestCode.RESET_CONSUMER_CLIENT_OFFSET,
    ):
        fields = {
            "consumerGroup": "X",
            "group": "X",
            "topic": "T",
            "timestamp": "0",
            "isForce": "false",
        }
        command = RemotingCommand.request(code, fields, encode_queue_offsets({}))
        assert consumer.instance._answer(None, command) is None
