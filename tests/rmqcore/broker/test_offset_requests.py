import pytest

from rmqcore.broker import Broker
from rmqcore.model import SubscriptionGroupConfig, TopicConfig
from rmqcore.protocol.bodies import decode_consumer_offsets, decode_delay_offsets
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode as Answer
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import ManualClock

from .peer import Peer


@pytest.fixture(autouse=True)
async def prepared(broker: Broker) -> None:
    broker.state.topics.put(TopicConfig("T", 4, 4), 0)
    broker.state.groups.put(SubscriptionGroupConfig("g"), 0)


async def committed(
    peer: Peer, queue_id: int = 0, **changes: object
) -> RemotingCommand:
    fields = {"consumerGroup": "g", "topic": "T", "queueId": queue_id}
    return await peer.ask(Code.QUERY_CONSUMER_OFFSET, fields | changes)


async def commit(peer: Peer, offset: int, **changes: object) -> RemotingCommand:
    fields = {"consumerGroup": "g", "topic": "T", "queueId": 0, "commitOffset": offset}
    return await peer.ask(Code.UPDATE_CONSUMER_OFFSET, fields | changes)


async def test_a_commit_is_read_back(peer: Peer) -> None:
    assert (await commit(peer, 5)).code == 0
    assert (await committed(peer)).ext_fields == {"offset": "5"}


async def test_a_group_new_to_a_young_queue_starts_at_0(peer: Peer) -> None:
    await peer.send()
    response = await committed(peer)
    assert (response.code, response.ext_fields) == (0, {"offset": "0"})


async def test_a_group_new_to_an_empty_queue_has_no_offset(peer: Peer) -> None:
    response = await committed(peer)
    assert response.code == Answer.QUERY_NOT_FOUND
    assert response.ext_fields == {}


async def test_who_does_not_want_0_gets_none(peer: Peer) -> None:
    await peer.send()
    response = await committed(peer, setZeroIfNotFound=False)
    assert response.code == Answer.QUERY_NOT_FOUND


async def test_an_old_queue_has_no_offset_for_a_new_group(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await peer.send()
    await peer.send(body=b"x" * 1000)
    monkeypatch.setattr("rmqcore.broker.processors.offsets._memory_bytes", lambda: 1000)
    assert (await committed(peer)).code == Answer.QUERY_NOT_FOUND


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"consumerGroup": "nobody"}, Answer.SUBSCRIPTION_GROUP_NOT_EXIST),
        ({"topic": "nothing"}, Answer.TOPIC_NOT_EXIST),
    ],
)
async def test_commits_of_the_unknown_are_refused(
    broker: Broker, peer: Peer, change: dict[str, object], code: int
) -> None:
    assert (await commit(peer, 5, **change)).code == code
    assert list(broker.state.offsets.all()) == []


async def test_a_commit_during_a_reset_is_ignored(broker: Broker, peer: Peer) -> None:
    broker.state.offsets.reset("g", "T", 0, 2, 0)
    response = await commit(peer, 9)
    assert (response.code, response.remark) == (0, "Offset has been previously reset")
    assert (await committed(peer)).ext_fields == {"offset": "2"}


async def test_all_offsets_are_listed(peer: Peer) -> None:
    await commit(peer, 5)
    await commit(peer, 7, queueId=1)
    response = await peer.ok(Code.GET_ALL_CONSUMER_OFFSET)
    assert b'"offsetTable":{"T@g":{0:5,1:7}}' in response.body
    assert decode_consumer_offsets(response.body).offsets == {"T@g": {0: 5, 1: 7}}


async def test_delay_offsets_are_listed(peer: Peer, clock: ManualClock) -> None:
    await peer.send(DELAY=1)
    await clock.advance(2)
    response = await peer.ok(Code.GET_ALL_DELAY_OFFSET)
    assert decode_delay_offsets(response.body) == {1: 1}


async def offset(peer: Peer, code: int, **fields: object) -> int:
    response = await peer.ok(code, {"topic": "T", "queueId": 0} | fields)
    return int(response.ext_fields["offset"])


async def test_both_ends_of_a_queue(peer: Peer) -> None:
    assert await offset(peer, Code.GET_MAX_OFFSET) == 0
    for _ in range(3):
        await peer.send()
    assert await offset(peer, Code.GET_MAX_OFFSET) == 3
    assert await offset(peer, Code.GET_MIN_OFFSET) == 0
    assert await offset(peer, Code.GET_MAX_OFFSET, topic="nothing") == 0


async def test_offsets_by_time(peer: Peer, clock: ManualClock) -> None:
    start = clock.time_ms()
    for _ in range(3):
        await peer.send()
        await clock.advance(10)
    code = Code.SEARCH_OFFSET_BY_TIMESTAMP
    times = [start - 1, start, start + 1, start + 20_000, start + 20_001]
    lower = [await offset(peer, code, timestamp=at) for at in times]
    assert lower == [0, 0, 1, 2, 3]
    upper = [
        await offset(peer, code, timestamp=at, boundaryType="upper") for at in times
    ]
    assert upper == [0, 0, 0, 2, 2]


async def test_the_oldest_store_time(peer: Peer, clock: ManualClock) -> None:
    fields = {"topic": "T", "queueId": 0}
    code = Code.GET_EARLIEST_MSG_STORETIME
    assert (await peer.ok(code, fields)).ext_fields == {"timestamp": "-1"}
    await peer.send()
    stored = str(clock.time_ms())
    await clock.advance(5)
    await peer.send()
    assert (await peer.ok(code, fields)).ext_fields == {"timestamp": stored}
