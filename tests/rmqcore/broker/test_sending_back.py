import zlib

import pytest

from rmqcore.broker import Broker
from rmqcore.model import MessageExt, Perm, SubscriptionGroupConfig, TopicConfig
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode as Answer
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import ManualClock

from .peer import Peer


async def stored(peer: Peer, **fields: object) -> MessageExt:
    await peer.send(TAGS="A", KEYS="k", fields=fields)
    return (await peer.messages())[-1]


async def back(
    peer: Peer, message: MessageExt, level: int = 0, **changes: object
) -> RemotingCommand:
    fields = {
        "offset": message.commit_log_offset,
        "group": "g",
        "delayLevel": level,
        "originMsgId": message.msg_id,
        "originTopic": message.topic,
    }
    return await peer.ask(Code.CONSUMER_SEND_MSG_BACK, fields | changes)


@pytest.mark.parametrize(("tries", "level"), [(0, 3), (1, 4), (14, 17), (15, 18)])
async def test_the_delay_grows_with_every_try(
    peer: Peer, tries: int, level: int
) -> None:
    message = await stored(peer, j=tries)
    assert (await back(peer, message)).code == 0
    (waiting,) = await peer.messages("SCHEDULE_TOPIC_XXXX", level - 1)
    assert waiting.properties["REAL_TOPIC"] == "%RETRY%g"
    assert waiting.reconsume_times == tries + 1


async def test_a_message_comes_back_after_its_delay(
    peer: Peer, clock: ManualClock
) -> None:
    message = await stored(peer)
    await back(peer, message)
    await clock.advance(9.9)
    assert await peer.messages("%RETRY%g") == []
    await clock.advance(0.2)
    (again,) = await peer.messages("%RETRY%g")
    assert (again.body, again.tags, again.keys) == (b"hello", "A", ("k",))
    assert again.properties["RETRY_TOPIC"] == "T"
    assert again.properties["ORIGIN_MESSAGE_ID"] == message.offset_msg_id
    assert again.msg_id == message.msg_id
    assert "DELAY" not in again.properties
    assert (again.born_host, again.born_timestamp) == (
        message.born_host,
        message.born_timestamp,
    )


async def test_the_first_topic_and_id_are_kept_over_tries(
    peer: Peer, clock: ManualClock
) -> None:
    first = await stored(peer)
    await back(peer, first, 1)
    await clock.advance(2)
    (second,) = await peer.messages("%RETRY%g")
    await back(peer, second, 1)
    await clock.advance(2)
    third = (await peer.messages("%RETRY%g"))[-1]
    assert third.reconsume_times == 2
    assert third.properties["RETRY_TOPIC"] == "T"
    assert third.properties["ORIGIN_MESSAGE_ID"] == first.offset_msg_id


@pytest.mark.parametrize(
    ("tries", "level", "changes"),
    [(16, 0, {}), (0, -1, {}), (2, 0, {"maxReconsumeTimes": 2})],
)
async def test_dead_letters(
    broker: Broker, peer: Peer, tries: int, level: int, changes: dict[str, object]
) -> None:
    message = await stored(peer, j=tries)
    assert (await back(peer, message, level, **changes)).code == 0
    assert broker.state.topics.get("%DLQ%g") == TopicConfig("%DLQ%g", 1, 1)
    (dead,) = await peer.messages("%DLQ%g")
    assert (dead.body, dead.reconsume_times) == (b"hello", tries + 1)
    assert "DELAY" not in dead.properties


async def test_a_compressed_body_stays_as_it_is(peer: Peer) -> None:
    packed = zlib.compress(b"x" * 100)
    await peer.send(body=packed, fields={"f": 1})
    message = (await peer.messages())[-1]
    await back(peer, message, -1)
    response = await peer.pull("%DLQ%g")
    assert packed in response.body


async def test_a_group_without_retry_queues_drops_the_message(
    broker: Broker, peer: Peer
) -> None:
    message = await stored(peer)
    broker.state.groups.put(SubscriptionGroupConfig("g", retry_queue_nums=0), 0)
    assert (await back(peer, message)).code == 0
    assert "%RETRY%g" not in broker.state.topics


async def test_an_unknown_group_is_26(broker: Broker, peer: Peer) -> None:
    message = await stored(peer)
    broker.state.groups.auto_create = False
    response = await back(peer, message, group="nobody")
    assert response.code == Answer.SUBSCRIPTION_GROUP_NOT_EXIST


async def test_a_retry_topic_that_may_not_be_written_is_16(
    broker: Broker, peer: Peer
) -> None:
    message = await stored(peer)
    broker.state.topics.put(TopicConfig("%RETRY%g", 1, 1, Perm.READ), 0)
    assert (await back(peer, message)).code == Answer.NO_PERMISSION


@pytest.mark.parametrize("offset", [-1, 1, 10**9])
async def test_a_message_that_is_not_there_is_1(peer: Peer, offset: int) -> None:
    message = await stored(peer)
    response = await back(peer, message, offset=offset)
    assert response.code == Answer.SYSTEM_ERROR
    assert response.remark == f"look message by offset failed, {offset}"


async def test_a_full_store_is_told(broker: Broker, peer: Peer) -> None:
    await peer.send(body=b"x" * ((1 << 20) - 210))
    (message,) = await peer.messages()
    response = await back(peer, message)
    assert response.code == Answer.SERVICE_NOT_AVAILABLE
