"""The progress of groups: consume statistics (208, 317) and time spans (303).

Unknown offsets and times are answered as in RocketMQ: an offset never committed is 0, a
time that is not known is -1.
"""

from __future__ import annotations

from rmqcore.broker.state import BrokerState
from rmqcore.broker.statistics import GROUP_GET_NUMS
from rmqcore.model import MessageQueue, TopicConfig
from rmqcore.protocol.bodies import (
    BrokerConsumeStats,
    ConsumeOffset,
    ConsumeStats,
    ConsumeTimeSpan,
    WireQueue,
    encode_broker_consume_stats,
    encode_consume_stats,
    encode_consume_time_spans,
)
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    GetBrokerConsumeStatsRequestHeader,
    GetConsumeStatsRequestHeader,
    QueryConsumeTimeSpanRequestHeader,
    decode_header,
)
from rmqcore.transport import Channel


def consume_stats(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """208: a group's offsets on the queues of a topic, or of all its topics."""
    header = decode_header(GetConsumeStatsRequestHeader, command.ext_fields)
    group = header.consumer_group
    if header.topic_list:
        topics = sorted(filter(None, header.topic_list.split(";")))
    else:
        asked = {header.topic} if header.topic else state.offsets.topics_of(group)
        topics = [topic for topic in sorted(asked) if _is_read(state, group, topic)]
    offsets: dict[MessageQueue, ConsumeOffset] = {}
    rate = 0.0
    for topic in topics:
        config = state.topics.get(topic)
        if config is not None:
            pairs = _consume_offsets(state, group, topic, config.read_queue_nums)
            offsets.update((queue.queue(), offset) for queue, offset in pairs)
            rate += _rate(state, group, topic)
    return command.response(body=encode_consume_stats(offsets, rate))


def broker_consume_stats(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """317: the offsets of all groups."""
    header = decode_header(GetBrokerConsumeStatsRequestHeader, command.ext_fields)
    topics_of: dict[str, list[str]] = {group: [] for group in state.groups.all}
    for topic, group, _ in state.offsets.all():
        if group in topics_of:
            topics_of[group].append(topic)
    groups = []
    lag = in_flight = 0
    for group, topics in topics_of.items():
        stats = [
            ConsumeStats(
                _rate(state, group, topic),
                _consume_offsets(state, group, topic, config.write_queue_nums),
            )
            for topic in topics
            if (config := state.topics.get(topic)) is not None
            and (config.order or not header.is_order)
            and _is_read(state, group, topic)
        ]
        groups.append({group: stats})
        for item in stats:
            for _, offset in item.offset_table:
                lag += offset.broker_offset - offset.consumer_offset
                in_flight += offset.pull_offset - offset.consumer_offset
    body = BrokerConsumeStats(state.address, groups, lag, in_flight)
    return command.response(body=encode_broker_consume_stats(body))


def consume_time_spans(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """303: store times at both ends of each queue and at the group's offset."""
    header = decode_header(QueryConsumeTimeSpanRequestHeader, command.ext_fields)
    topic, group = header.topic, header.group
    config: TopicConfig | None = state.topics.get(topic)
    if config is None:
        return command.response(
            ResponseCode.TOPIC_NOT_EXIST, f"topic[{topic}] not exist"
        )
    spans = [
        _time_span(state, group, topic, queue_id)
        for queue_id in range(config.write_queue_nums)
    ]
    return command.response(body=encode_consume_time_spans(spans))


# Private, in order of first use


def _is_read(state: BrokerState, group: str, topic: str) -> bool:
    """Tell whether a group reads a topic; a group without members may."""
    known = state.consumers.group(group)
    return known is None or not known.subscriptions or topic in known.subscriptions


def _consume_offsets(
    state: BrokerState, group: str, topic: str, queues: int
) -> list[tuple[WireQueue, ConsumeOffset]]:
    return [
        (
            WireQueue(state.settings.name, queue_id, topic),
            _consume_offset(state, group, topic, queue_id),
        )
        for queue_id in range(queues)
    ]


def _consume_offset(
    state: BrokerState, group: str, topic: str, queue_id: int
) -> ConsumeOffset:
    committed = state.offsets.committed(group, topic, queue_id) or 0
    pulled = state.offsets.pulled(group, topic, queue_id) or 0
    timestamp = None
    if committed > 0:
        timestamp = state.store.store_timestamp(topic, queue_id, committed - 1)
    return ConsumeOffset(
        broker_offset=state.store.max_offset(topic, queue_id),
        consumer_offset=committed,
        last_timestamp=timestamp or 0,
        pull_offset=max(committed, pulled),
    )


def _rate(state: BrokerState, group: str, topic: str) -> float:
    return state.statistics.tps(GROUP_GET_NUMS, f"{topic}@{group}")


def _time_span(
    state: BrokerState, group: str, topic: str, queue_id: int
) -> ConsumeTimeSpan:
    def stored_at(offset: int) -> int:
        timestamp = state.store.store_timestamp(topic, queue_id, offset)
        return -1 if timestamp is None else timestamp

    first = state.store.min_offset(topic, queue_id)
    end = state.store.max_offset(topic, queue_id)
    committed = state.offsets.committed(group, topic, queue_id)
    offset = -1 if committed is None else committed
    earliest = stored_at(first)
    delay = state.clock.time_ms() - stored_at(offset) if offset < end else 0
    return ConsumeTimeSpan(
        message_queue=WireQueue(state.settings.name, queue_id, topic),
        consume_time_stamp=stored_at(offset - 1) if offset > 0 else earliest,
        delay_time=delay,
        max_time_stamp=stored_at(end - 1),
        min_time_stamp=earliest,
    )
