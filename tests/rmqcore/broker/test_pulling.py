import asyncio

import pytest

from rmqcore.broker import Broker
from rmqcore.model import MessageModel, Perm, SubscriptionGroupConfig, TopicConfig
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode as Answer
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.message import decode_records
from rmqcore.transport import ManualClock

from .peer import Peer, batch


def bodies(response: RemotingCommand) -> list[bytes]:
    return [m.body for m in decode_records(response.body, "broker-a")]


async def held(broker: Broker, count: int = 1) -> None:
    """Return when that many pulls wait at the broker."""
    while len(broker.state.holds) < count:
        await asyncio.sleep(0)


@pytest.fixture
async def topic(broker: Broker) -> str:
    broker.state.topics.put(TopicConfig("T", 4, 4), 0)
    return "T"


async def test_a_pull_finds_what_was_sent(topic: str, peer: Peer) -> None:
    for number in range(3):
        await peer.send(body=b"%d" % number)
    response = await peer.pull(offset=1)
    assert (response.code, response.remark) == (0, "FOUND")
    assert bodies(response) == [b"1", b"2"]
    assert response.ext_fields == {
        "suggestWhichBrokerId": "0",
        "nextBeginOffset": "3",
        "minOffset": "0",
        "maxOffset": "3",
        "topicSysFlag": "0",
        "groupSysFlag": "0",
    }


@pytest.mark.parametrize(
    ("asked", "code", "remark", "following"),
    [
        ((0, 2), Answer.PULL_NOT_FOUND, "OFFSET_OVERFLOW_ONE", "2"),
        ((0, 3), Answer.PULL_OFFSET_MOVED, "OFFSET_OVERFLOW_BADLY", "2"),
        ((0, -1), Answer.PULL_OFFSET_MOVED, "OFFSET_TOO_SMALL", "0"),
        ((1, 0), Answer.PULL_NOT_FOUND, "NO_MESSAGE_IN_QUEUE", "0"),
        ((1, 9), Answer.PULL_OFFSET_MOVED, "NO_MESSAGE_IN_QUEUE", "0"),
    ],
)
async def test_offsets_that_have_no_message(
    peer: Peer, asked: tuple[int, int], code: int, remark: str, following: str
) -> None:
    await peer.send()
    await peer.send()
    response = await peer.pull("T", *asked)
    assert (response.code, response.remark) == (code, remark)
    assert response.ext_fields["nextBeginOffset"] == following
    assert response.body == b""


async def test_a_tag_filter_moves_past_what_it_does_not_want(
    topic: str, peer: Peer
) -> None:
    for tag in ("A", "B", "A", "C"):
        await peer.send(body=tag.encode(), TAGS=tag)
    response = await peer.pull(subscription="A || C")
    assert (bodies(response), response.ext_fields["nextBeginOffset"]) == (
        [b"A", b"A", b"C"],
        "4",
    )
    response = await peer.pull(offset=1, subscription="X")
    assert response.code == Answer.PULL_RETRY_IMMEDIATELY
    assert response.ext_fields["nextBeginOffset"] == "4"


async def test_the_groups_own_subscription_filters(topic: str, peer: Peer) -> None:
    await peer.heartbeat("T", tags="B")
    for tag in ("A", "B"):
        await peer.send(body=tag.encode(), TAGS=tag)
    assert bodies(await peer.pull(sysFlag=0)) == [b"B"]


async def test_e3_the_last_subscription_filters_for_all(topic: str, peer: Peer) -> None:
    await peer.heartbeat("T", tags="tag1", version=1)
    await peer.heartbeat("T", tags="tag2", version=2)
    for tag in ("tag1", "tag2"):
        await peer.send(body=tag.encode(), TAGS=tag)
    assert bodies(await peer.pull(sysFlag=0, subVersion=1)) == [b"tag2"]


# Refusals, in the order of the checks


async def test_an_unknown_group_is_26(broker: Broker, topic: str, peer: Peer) -> None:
    broker.state.groups.auto_create = False
    response = await peer.pull()
    assert response.code == Answer.SUBSCRIPTION_GROUP_NOT_EXIST


async def test_a_group_that_may_not_consume_is_16(
    broker: Broker, topic: str, peer: Peer
) -> None:
    broker.state.groups.put(SubscriptionGroupConfig("g", consume_enable=False), 0)
    response = await peer.pull()
    assert response.code == Answer.NO_PERMISSION
    assert response.ext_fields == {"forbiddenType": "2"}


async def test_an_unknown_topic_is_17(peer: Peer) -> None:
    assert (await peer.pull("nothing")).code == Answer.TOPIC_NOT_EXIST


async def test_a_topic_that_may_not_be_read_is_16(broker: Broker, peer: Peer) -> None:
    broker.state.topics.put(TopicConfig("T", 4, 4, Perm.WRITE), 0)
    response = await peer.pull()
    assert response.code == Answer.NO_PERMISSION
    assert response.ext_fields == {"forbiddenType": "3"}


@pytest.mark.parametrize("queue_id", [-1, 4])
async def test_a_queue_beyond_the_topic_is_29(
    topic: str, peer: Peer, queue_id: int
) -> None:
    response = await peer.pull("T", queue_id)
    assert response.code == Answer.INVALID_PARAMETER
    assert f"queueId[{queue_id}]" in (response.remark or "")
    assert "readQueueNums:[4]" in (response.remark or "")


async def test_an_expression_without_tags_is_23(topic: str, peer: Peer) -> None:
    response = await peer.pull(subscription="||")
    assert response.code == Answer.SUBSCRIPTION_PARSE_FAILED


async def test_a_group_without_heartbeat_is_24(topic: str, peer: Peer) -> None:
    response = await peer.pull(sysFlag=0)
    assert response.code == Answer.SUBSCRIPTION_NOT_EXIST
    assert response.remark == "the consumer's group info not exist"


async def test_e6_a_topic_missing_from_the_subscription_is_24(
    topic: str, peer: Peer
) -> None:
    await peer.heartbeat("T")
    await peer.heartbeat("U")
    response = await peer.pull(sysFlag=0)
    assert response.code == Answer.SUBSCRIPTION_NOT_EXIST
    assert response.remark == "the consumer's subscription not exist"


async def test_a_subscription_older_than_the_pulls_is_25(
    topic: str, peer: Peer
) -> None:
    await peer.heartbeat("T", version=5)
    assert (await peer.pull(sysFlag=0, subVersion=5)).code == Answer.PULL_NOT_FOUND
    response = await peer.pull(sysFlag=0, subVersion=6)
    assert response.code == Answer.SUBSCRIPTION_NOT_LATEST


async def test_broadcasting_may_be_forbidden(
    broker: Broker, topic: str, peer: Peer
) -> None:
    config = SubscriptionGroupConfig("g", consume_broadcast_enable=False)
    broker.state.groups.put(config, 0)
    await peer.heartbeat("T", model=MessageModel.BROADCASTING)
    response = await peer.pull(sysFlag=0)
    assert response.code == Answer.NO_PERMISSION
    assert response.ext_fields == {"forbiddenType": "4"}


async def test_sql_filters_are_not_supported(topic: str, peer: Peer) -> None:
    response = await peer.pull(expressionType="SQL92", subscription="a > 1")
    assert response.code == Answer.SYSTEM_ERROR
    assert response.remark == (
        "The broker does not support consumer to filter message by SQL92"
    )


# Offsets that travel with pulls


async def test_a_pull_commits_and_is_noted(
    broker: Broker, topic: str, peer: Peer
) -> None:
    for _ in range(3):
        await peer.send()
    await peer.pull(offset=2, commitOffset=1, sysFlag=4 | 1)
    assert broker.state.offsets.committed("g", "T", 0) == 1
    assert broker.state.offsets.pulled("g", "T", 0) == 3


async def test_without_the_flag_nothing_is_committed(
    broker: Broker, topic: str, peer: Peer
) -> None:
    await peer.pull(commitOffset=1)
    assert broker.state.offsets.committed("g", "T", 0) is None


async def test_a_reset_moves_the_next_pull(
    broker: Broker, topic: str, peer: Peer
) -> None:
    for _ in range(3):
        await peer.send()
    broker.state.offsets.reset("g", "T", 0, 1, 0)
    response = await peer.pull(offset=3, commitOffset=3, sysFlag=4 | 1)
    assert (response.code, response.remark) == (21, "OFFSET_RESET")
    assert response.ext_fields["nextBeginOffset"] == "1"
    assert response.ext_fields["maxOffset"] == "3"
    assert broker.state.offsets.committed("g", "T", 0) == 1
    assert len(bodies(await peer.pull(offset=1))) == 2


# Long polling


async def test_a_pull_waits_for_the_next_message(
    broker: Broker, topic: str, peer: Peer
) -> None:
    waiting = peer.pull_later()
    await held(broker)
    await peer.send(body=b"new")
    assert bodies(await waiting) == [b"new"]


async def test_a_batch_is_found_whole_by_who_waited(
    broker: Broker, topic: str, peer: Peer
) -> None:
    waiting = peer.pull_later()
    await held(broker)
    await peer.send(body=batch("a", "b", "c"), code=Code.SEND_BATCH_MESSAGE)
    assert bodies(await waiting) == [b"a", b"b", b"c"]


async def test_only_a_wanted_tag_wakes(broker: Broker, topic: str, peer: Peer) -> None:
    waiting = peer.pull_later(subscription="B")
    await held(broker)
    await peer.send(TAGS="A")
    assert len(broker.state.holds) == 1
    await peer.send(body=b"wanted", TAGS="B")
    assert bodies(await waiting) == [b"wanted"]


async def test_the_scan_moves_a_filtered_pull_on(
    broker: Broker, topic: str, peer: Peer, clock: ManualClock
) -> None:
    waiting = peer.pull_later(subscription="B")
    await held(broker)
    await peer.send(TAGS="A")
    await clock.advance(5)
    response = await waiting
    assert response.code == Answer.PULL_RETRY_IMMEDIATELY
    assert response.ext_fields["nextBeginOffset"] == "1"


async def test_a_pull_that_waited_long_enough_is_answered(
    broker: Broker, topic: str, peer: Peer, clock: ManualClock
) -> None:
    waiting = peer.pull_later(suspendTimeoutMillis=9_000)
    await held(broker)
    await clock.advance(5)
    assert not waiting.done()
    await clock.advance(5)
    assert (await waiting).code == Answer.PULL_NOT_FOUND


async def test_an_illegal_offset_does_not_wait(topic: str, peer: Peer) -> None:
    response = await peer.pull_later(offset=9)
    assert response.code == Answer.PULL_OFFSET_MOVED


async def test_a_wait_commits_once(broker: Broker, topic: str, peer: Peer) -> None:
    waiting = peer.pull_later(commitOffset=7)
    await held(broker)
    broker.state.offsets.commit("g", "T", 0, 9, 0)
    await peer.send()
    await waiting
    assert broker.state.offsets.committed("g", "T", 0) == 9


async def test_a_woken_pull_may_be_refused(
    broker: Broker, topic: str, peer: Peer
) -> None:
    await peer.heartbeat("T")
    waiting = peer.channel.send_request_nowait(
        RemotingCommand.request(
            Code.PULL_MESSAGE,
            {n: str(v) for n, v in peer.pull_fields(sysFlag=2).items()},
        )
    )
    await held(broker)
    broker.state.consumers.close(next(iter(broker.state.consumers.groups()[0].members)))
    await peer.send()
    assert (await waiting).code == Answer.SUBSCRIPTION_NOT_EXIST


async def test_a_lost_connection_ends_its_waits(
    broker: Broker, topic: str, peer: Peer
) -> None:
    waiting = peer.pull_later()
    await held(broker)
    await peer.close()
    with pytest.raises(Exception, match="closed"):
        await waiting
    while len(broker.state.holds):
        await asyncio.sleep(0)


async def test_lite_pulls_are_pulls(topic: str, peer: Peer) -> None:
    await peer.send()
    response = await peer.ok(Code.LITE_PULL_MESSAGE, peer.pull_fields(sysFlag=4 | 16))
    assert len(bodies(response)) == 1
