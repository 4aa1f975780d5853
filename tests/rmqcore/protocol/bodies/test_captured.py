"""Bodies of Apache RocketMQ, read and written again byte for byte."""

from collections.abc import Callable

import pytest

from rmqcore.model import TopicRoute
from rmqcore.protocol import bodies
from tests.rmqcore.protocol.captured import all_frames, java_text

Codec = tuple[Callable[[bytes], object], Callable[..., bytes]]


def codec(name: str) -> Codec:
    return getattr(bodies, f"decode_{name}"), getattr(bodies, f"encode_{name}")


def write_standard_route(route: TopicRoute) -> bytes:
    return bodies.encode_topic_route(route, standard_json=True)


def write_topic_stats(stats: bodies.TopicStats) -> bytes:
    return bodies.encode_topic_stats(stats.by_queue(), stats.topic_put_tps)


def write_consume_stats(stats: bodies.ConsumeStats) -> bytes:
    return bodies.encode_consume_stats(stats.by_queue(), stats.consume_tps)


STANDARD_ROUTE: Codec = (bodies.decode_topic_route, write_standard_route)
TOPIC_STATS: Codec = (bodies.decode_topic_stats, write_topic_stats)
CONSUME_STATS: Codec = (bodies.decode_consume_stats, write_consume_stats)

REQUESTS: dict[int, Codec] = {
    34: codec("heartbeat"),
    41: codec("lock_request"),
    42: codec("lock_request"),
    46: codec("client_config"),
    103: codec("register_broker"),
    200: codec("group_config"),
}
RESPONSES: dict[int, Codec] = {
    38: codec("consumer_ids"),
    41: codec("lock_response"),
    105: STANDARD_ROUTE,
    106: codec("cluster_info"),
    201: codec("group_table"),
    202: TOPIC_STATS,
    203: codec("consumer_connection"),
    206: codec("topic_list"),
    208: CONSUME_STATS,
    221: codec("consumer_status"),
    222: codec("queue_offsets"),
    223: codec("consumer_status"),
    224: codec("topic_list"),
    300: codec("group_list"),
    303: codec("consume_time_spans"),
    307: codec("consumer_running_info"),
    315: codec("broker_stats"),
    351: codec("topic_config"),
}
JAVA_TEXTS: dict[str, Codec] = {
    "TopicRouteData old": codec("topic_route"),
    "TopicRouteData standard": STANDARD_ROUTE,
    "ClusterInfo": codec("cluster_info"),
    "ConsumeStats": CONSUME_STATS,
    "TopicStatsTable": TOPIC_STATS,
    "LockBatchRequestBody": codec("lock_request"),
    "LockBatchResponseBody": codec("lock_response"),
    "HeartbeatData": codec("heartbeat"),
    "ResetOffsetBody": codec("queue_offsets"),
    "GetConsumerStatusBody": codec("consumer_status"),
    "ConsumerRunningInfo": codec("consumer_running_info"),
    "OffsetSerializeWrapper": codec("queue_offsets"),
    "ConsumerOffset(43)": codec("consumer_offsets"),
    "TopicConfigSerializeWrapper(21)": codec("topic_config_table"),
    "RegisterBrokerBody": codec("register_broker"),
    "SubscriptionGroupConfig(200 body)": codec("group_config"),
    "SubscriptionGroupWrapper(201)": codec("group_table"),
    "ConsumerConnection(203)": codec("consumer_connection"),
    "KVTable(28)": codec("kv_table"),
    "ConsumeMessageDirectlyResult": codec("consume_directly_result"),
    "TopicList(206)": codec("topic_list"),
    "GroupList(300)": codec("group_list"),
    "QueryConsumeTimeSpanBody(303)": codec("consume_time_spans"),
    "GetConsumerListByGroupResponseBody(38)": codec("consumer_ids"),
}


@pytest.mark.parametrize(
    ("is_response", "codecs"), [(False, REQUESTS), (True, RESPONSES)]
)
def test_captured_bodies(is_response: bool, codecs: dict[int, Codec]) -> None:
    seen = set()
    for frame in all_frames():
        if frame.is_response != is_response or frame.request_code not in codecs:
            continue
        if not frame.body:
            continue
        decode, encode = codecs[frame.request_code]
        assert encode(decode(frame.body)) == frame.body
        seen.add(frame.request_code)
    assert seen == set(codecs)


def test_no_captured_json_body_is_left_out() -> None:
    left = {
        (frame.request_code, frame.kind)
        for frame in all_frames()
        if frame.body.startswith(b"{")
        and frame.request_code not in (RESPONSES if frame.is_response else REQUESTS)
    }
    # 343 carries the broker's address, which its decoder does not keep.
    assert left == {(343, "response")}


@pytest.mark.parametrize("title", JAVA_TEXTS)
def test_texts_of_the_java_client(title: str) -> None:
    decode, encode = JAVA_TEXTS[title]
    text = java_text(title).encode()
    assert encode(decode(text)) == text


def test_pretty_text_is_read_too() -> None:
    pretty = java_text("OffsetSerializeWrapper pretty").encode()
    plain = java_text("OffsetSerializeWrapper").encode()
    assert bodies.decode_queue_offsets(pretty) == bodies.decode_queue_offsets(plain)


def test_references_between_statistics_are_read() -> None:
    stats = bodies.decode_broker_stats(java_text("BrokerStatsData(315)").encode())
    item = bodies.StatsItem(avgpt=0.2, sum=1, tps=0.1)
    assert stats == bodies.BrokerStatsData(item, item, item)
