import asyncio

import pytest

from rmqcore.broker import Broker
from rmqcore.model import MessageQueue, Perm, TopicConfig
from rmqcore.protocol.bodies import (
    decode_topic_config,
    decode_topic_config_table,
    decode_topic_list,
    decode_topic_stats,
    encode_topic_config_list,
)
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode as Answer
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import ManualClock

from .peer import Peer


async def create(peer: Peer, topic: str = "T", **changes: object) -> RemotingCommand:
    fields: dict[str, object] = {
        "topic": topic,
        "defaultTopic": "TBW102",
        "readQueueNums": 4,
        "writeQueueNums": 3,
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": True,
    }
    return await peer.ask(Code.UPDATE_AND_CREATE_TOPIC, fields | changes)


async def test_a_topic_is_created_and_on_disk(broker: Broker, peer: Peer) -> None:
    assert (await create(peer, attributes="+message.type=NORMAL")).code == 0
    expected = TopicConfig(
        "T", 4, 3, Perm(6), order=True, attributes={"message.type": "NORMAL"}
    )
    assert broker.state.topics.get("T") == expected
    path = broker.settings.store_directory / "config/topics.json"
    assert decode_topic_config_table(path.read_bytes()).topics["T"] == expected
    response = await peer.ok(Code.GET_TOPIC_CONFIG, {"topic": "T"})
    assert decode_topic_config(response.body) == expected


async def test_attributes_are_added_and_taken_away(broker: Broker, peer: Peer) -> None:
    await create(peer, attributes="+a=1,+b=2")
    await create(peer, attributes="-a,+b=3")
    config = broker.state.topics.get("T")
    assert config is not None
    assert config.attributes == {"b": "3"}


async def test_the_same_again_changes_nothing(broker: Broker, peer: Peer) -> None:
    await create(peer)
    version = broker.state.topics.version
    assert (await create(peer)).code == 0
    assert broker.state.topics.version == version


@pytest.mark.parametrize(
    ("topic", "changes", "words"),
    [
        ("bad topic", {}, "illegal characters"),
        ("SCHEDULE_TOPIC_XXXX", {}, "is conflict with system topic"),
        ("DefaultCluster", {}, "is conflict with system topic"),
        ("T", {"readQueueNums": -1}, "must not be negative"),
        ("T", {"attributes": "a=1"}, "attribute 'a=1' is not"),
        ("T", {"attributes": "-a=1"}, "attribute '-a=1' is not"),
        ("T", {"attributes": "+a"}, "attribute '+a' is not"),
    ],
)
async def test_wrong_topics_are_29(
    broker: Broker, peer: Peer, topic: str, changes: dict[str, object], words: str
) -> None:
    response = await create(peer, topic, **changes)
    assert response.code == Answer.INVALID_PARAMETER
    assert words in (response.remark or "")
    assert broker.state.topics.get("T") is None


async def test_topics_are_created_together_or_not_at_all(
    broker: Broker, peer: Peer
) -> None:
    code = Code.UPDATE_AND_CREATE_TOPIC_LIST
    body = encode_topic_config_list([TopicConfig("A", 1, 1), TopicConfig("b b", 1, 1)])
    assert (await peer.ask(code, body=body)).code == Answer.INVALID_PARAMETER
    assert "A" not in broker.state.topics
    body = encode_topic_config_list([TopicConfig("A", 1, 1), TopicConfig("B", 2, 2)])
    await peer.ok(code, body=body)
    assert broker.state.topics.get("B") == TopicConfig("B", 2, 2)


async def test_a_deleted_topic_takes_everything_along(
    broker: Broker, peer: Peer
) -> None:
    await peer.send()
    broker.state.offsets.commit("g", "T", 0, 1, 0)
    await peer.ok(Code.DELETE_TOPIC_IN_BROKER, {"topic": "T"})
    assert "T" not in broker.state.topics
    assert broker.state.offsets.groups_of("T") == set()
    assert broker.state.store.max_offset("T", 0) == 0
    await peer.send(body=b"again")
    assert [m.queue_offset for m in await peer.messages()] == [0]
    await peer.ok(Code.DELETE_TOPIC_IN_BROKER, {"topic": "never"})


@pytest.mark.parametrize("topic", [" ", "TBW102", "broker-a"])
async def test_some_topics_cannot_be_deleted(peer: Peer, topic: str) -> None:
    response = await peer.ask(Code.DELETE_TOPIC_IN_BROKER, {"topic": topic})
    assert response.code == Answer.INVALID_PARAMETER


async def test_all_topics_are_listed(broker: Broker, peer: Peer) -> None:
    await create(peer)
    response = await peer.ok(Code.GET_ALL_TOPIC_CONFIG)
    table = decode_topic_config_table(response.body)
    assert table.topics == broker.state.topics.all
    assert table.data_version == broker.state.topics.version
    assert response.ext_fields == {"totalTopicNum": str(len(table.topics))}
    response = await peer.ok(Code.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
    assert set(decode_topic_list(response.body)) == set(table.topics) - {"T"}


async def test_an_unknown_topic_is_17(peer: Peer) -> None:
    for code in (Code.GET_TOPIC_CONFIG, Code.GET_TOPIC_STATS_INFO):
        response = await peer.ask(code, {"topic": "T"})
        assert response.code == Answer.TOPIC_NOT_EXIST


async def test_statistics_of_every_queue(peer: Peer, clock: ManualClock) -> None:
    await create(peer)
    for queue_id in (0, 0, 2):
        await peer.send(queue_id=queue_id)
    await clock.advance(10)
    response = await peer.ok(Code.GET_TOPIC_STATS_INFO, {"topic": "T"})
    stats = decode_topic_stats(response.body)
    offsets = stats.by_queue()
    assert [q.queue_id for q in sorted(offsets)] == [0, 1, 2, 3]
    first = offsets[MessageQueue("T", "broker-a", 0)]
    assert (first.min_offset, first.max_offset) == (0, 2)
    assert first.last_update_timestamp == clock.time_ms() - 10_000
    empty = offsets[MessageQueue("T", "broker-a", 1)]
    assert (empty.max_offset, empty.last_update_timestamp) == (0, 0)
    assert stats.topic_put_tps == pytest.approx(0.3)


async def test_concurrent_creations_all_arrive(broker: Broker, peer: Peer) -> None:
    answers = await asyncio.gather(*(create(peer, f"T{n}") for n in range(20)))
    assert {answer.code for answer in answers} == {0}
    assert {f"T{n}" for n in range(20)} <= set(broker.state.topics.all)
