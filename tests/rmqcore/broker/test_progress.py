import pytest

from rmqcore.broker import Broker
from rmqcore.model import MessageQueue, TopicConfig
from rmqcore.protocol.bodies import (
    BrokerConsumeStats,
    ConsumeStats,
    decode_broker_consume_stats,
    decode_consume_stats,
    decode_consume_time_spans,
)
from rmqcore.protocol.codes import RequestCode as Code
from rmqcore.protocol.codes import ResponseCode as Answer
from rmqcore.transport import ManualClock

from .peer import Peer

Q0, Q1 = (MessageQueue("T", "broker-a", number) for number in (0, 1))


@pytest.fixture(autouse=True)
async def prepared(broker: Broker, peer: Peer, clock: ManualClock) -> None:
    """Topic T with five messages 10 s apart; the group g has consumed two of them."""
    broker.state.topics.put(TopicConfig("T", 2, 2), 0)
    for _ in range(5):
        await peer.send()
        await clock.advance(10)
    await peer.pull()
    broker.state.groups.find("g", 0)
    broker.state.offsets.commit("g", "T", 0, 2, 0)


async def stats(peer: Peer, **fields: object) -> ConsumeStats:
    response = await peer.ok(Code.GET_CONSUME_STATS, {"consumerGroup": "g"} | fields)
    return decode_consume_stats(response.body)


async def test_a_groups_progress(peer: Peer, clock: ManualClock) -> None:
    offsets = (await stats(peer, topic="T")).by_queue()
    first = offsets[Q0]
    assert (first.broker_offset, first.consumer_offset, first.pull_offset) == (5, 2, 5)
    assert first.last_timestamp == clock.time_ms() - 40_000
    never = offsets[Q1]
    assert (never.broker_offset, never.consumer_offset, never.pull_offset) == (0, 0, 0)
    assert never.last_timestamp == 0


async def test_without_topic_all_topics_are_told(broker: Broker, peer: Peer) -> None:
    broker.state.topics.put(TopicConfig("U", 1, 1), 0)
    broker.state.offsets.commit("g", "U", 0, 0, 0)
    broker.state.offsets.commit("g", "gone", 0, 0, 0)
    assert {q.topic for q in (await stats(peer)).by_queue()} == {"T", "U"}


async def test_topics_can_be_listed(broker: Broker, peer: Peer) -> None:
    broker.state.topics.put(TopicConfig("U", 1, 1), 0)
    offsets = (await stats(peer, topicList="U;nothing")).by_queue()
    assert {q.topic for q in offsets} == {"U"}


async def test_a_topic_the_members_do_not_read_is_left_out(peer: Peer) -> None:
    await peer.heartbeat("U")
    assert (await stats(peer)).by_queue() == {}
    await peer.heartbeat("T", version=2)
    assert len((await stats(peer)).by_queue()) == 2


async def test_rates_come_from_pulls(peer: Peer, clock: ManualClock) -> None:
    await clock.advance(10)
    assert (await stats(peer, topic="T")).consume_tps == pytest.approx(0.5)


async def all_stats(peer: Peer, *, is_order: bool = False) -> BrokerConsumeStats:
    fields = {"isOrder": is_order}
    response = await peer.ok(Code.GET_BROKER_CONSUME_STATS, fields)
    return decode_broker_consume_stats(response.body)


async def test_the_progress_of_all_groups(broker: Broker, peer: Peer) -> None:
    broker.state.offsets.commit("unknown-group", "T", 0, 1, 0)
    body = await all_stats(peer)
    groups = {
        name: stats for item in body.consume_stats_list for name, stats in item.items()
    }
    assert set(groups) == set(broker.state.groups.all)
    ((_, offset), _) = groups["g"][0].offset_table
    assert (offset.broker_offset, offset.consumer_offset) == (5, 2)
    assert (body.total_diff, body.total_inflight_diff) == (3, 3)
    assert body.broker_addr == broker.address


async def test_only_ordered_topics_can_be_asked_for(broker: Broker, peer: Peer) -> None:
    assert (await all_stats(peer, is_order=True)).total_diff == 0
    broker.state.topics.put(TopicConfig("T", 2, 2, order=True), 0)
    assert (await all_stats(peer, is_order=True)).total_diff == 3


async def test_time_spans(peer: Peer, clock: ManualClock) -> None:
    fields = {"topic": "T", "group": "g"}
    response = await peer.ok(Code.QUERY_CONSUME_TIME_SPAN, fields)
    first, second = decode_consume_time_spans(response.body)
    now = clock.time_ms()
    assert (first.min_time_stamp, first.max_time_stamp) == (now - 50_000, now - 10_000)
    assert first.consume_time_stamp == now - 40_000
    assert first.delay_time == 30_000
    assert (second.min_time_stamp, second.max_time_stamp) == (-1, -1)


async def test_a_group_that_is_done_has_no_delay(broker: Broker, peer: Peer) -> None:
    broker.state.offsets.commit("g", "T", 0, 5, 0)
    fields = {"topic": "T", "group": "g"}
    response = await peer.ok(Code.QUERY_CONSUME_TIME_SPAN, fields)
    assert decode_consume_time_spans(response.body)[0].delay_time == 0


async def test_a_group_that_committed_nothing(peer: Peer, clock: ManualClock) -> None:
    fields = {"topic": "T", "group": "new"}
    response = await peer.ok(Code.QUERY_CONSUME_TIME_SPAN, fields)
    first = decode_consume_time_spans(response.body)[0]
    assert first.consume_time_stamp == first.min_time_stamp
    assert first.delay_time == clock.time_ms() + 1


async def test_an_unknown_topic_is_17(peer: Peer) -> None:
    fields = {"topic": "nothing", "group": "g"}
    response = await peer.ask(Code.QUERY_CONSUME_TIME_SPAN, fields)
    assert response.code == Answer.TOPIC_NOT_EXIST
