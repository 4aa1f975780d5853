"""Topics: create and delete (17, 18, 215), list (21, 305, 351), statistics (202)."""

from __future__ import annotations

from collections.abc import Awaitable

from rmqcore.broker.names import topic_fault
from rmqcore.broker.state import Answer, BrokerState
from rmqcore.broker.statistics import TOPIC_PUT_NUMS
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue, Perm, TopicConfig
from rmqcore.protocol.bodies import (
    TopicConfigTable,
    TopicOffset,
    decode_topic_config_list,
    encode_topic_config,
    encode_topic_config_table,
    encode_topic_list,
    encode_topic_stats,
)
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    CreateTopicRequestHeader,
    DeleteTopicRequestHeader,
    GetAllTopicConfigResponseHeader,
    GetTopicConfigRequestHeader,
    GetTopicStatsInfoRequestHeader,
    decode_header,
    encode_header,
)
from rmqcore.transport import Channel


def create_topic(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> Answer | Awaitable[Answer]:
    """17: create or change a topic; the name servers are told at once."""
    header = decode_header(CreateTopicRequestHeader, command.ext_fields)
    try:
        config = TopicConfig(
            header.topic,
            header.read_queue_nums,
            header.write_queue_nums,
            Perm(header.perm),
            header.topic_filter_type,
            header.topic_sys_flag or 0,
            bool(header.order),
            _attributes(state, header),
        )
    except ArgumentError as error:
        return command.response(ResponseCode.INVALID_PARAMETER, str(error))
    return _put_topics(state, command, [config])


def create_topics(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> Answer | Awaitable[Answer]:
    """18: create or change several topics, all or none."""
    return _put_topics(state, command, decode_topic_config_list(command.body))


def delete_topic(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> Answer | Awaitable[Answer]:
    """215: delete a topic with its queues and all offsets committed on it."""
    topic = decode_header(DeleteTopicRequestHeader, command.ext_fields).topic
    if not topic.strip():
        return command.response(
            ResponseCode.INVALID_PARAMETER, "The specified topic is blank."
        )
    if state.topics.is_system(topic):
        return _system_topic(command, topic)
    deleted = state.topics.delete(topic, state.clock.time_ms())
    state.offsets.forget_topic(topic)
    state.statistics.forget(topic)
    state.store.drop_topic(topic)
    if not deleted:
        return command.response()
    state.save_configuration()
    return state.answer_registered(command.response())


def all_topics(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """21: every topic of this broker, in one answer."""
    table = TopicConfigTable(state.topics.all, state.topics.version)
    answer = GetAllTopicConfigResponseHeader(total_topic_num=len(table.topics))
    return command.response(
        ext_fields=encode_header(answer), body=encode_topic_config_table(table)
    )


def system_topics(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """305: the topics that are RocketMQ's own."""
    names = [name for name in state.topics.all if state.topics.is_system(name)]
    return command.response(body=encode_topic_list(names, state.address))


def topic_config(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """351: one topic."""
    topic = decode_header(GetTopicConfigRequestHeader, command.ext_fields).topic
    config = state.topics.get(topic)
    if config is None:
        return command.response(
            ResponseCode.TOPIC_NOT_EXIST, f"No topic in this broker. topic: {topic}"
        )
    return command.response(body=encode_topic_config(config))


def topic_stats(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """202: offsets and newest store time of each queue."""
    topic = decode_header(GetTopicStatsInfoRequestHeader, command.ext_fields).topic
    config = state.topics.get(topic)
    if config is None:
        return command.response(
            ResponseCode.TOPIC_NOT_EXIST, f"topic[{topic}] not exist"
        )
    queues = max(config.read_queue_nums, config.write_queue_nums)
    offsets = {
        MessageQueue(topic, state.settings.name, queue_id): _topic_offset(
            state, topic, queue_id
        )
        for queue_id in range(queues)
    }
    rate = state.statistics.tps(TOPIC_PUT_NUMS, topic)
    return command.response(body=encode_topic_stats(offsets, rate))


# Private, in order of first use


def _attributes(state: BrokerState, header: CreateTopicRequestHeader) -> dict[str, str]:
    """Return the topic's attributes after changes such as `+key=value,-key`."""
    known = state.topics.get(header.topic)
    attributes = dict(known.attributes) if known else {}
    for change in filter(None, (header.attributes or "").split(",")):
        key, _, value = change[1:].partition("=")
        if change[0] == "+" and key and value:
            attributes[key] = value
        elif change[0] == "-" and key and not value:
            attributes.pop(key, None)
        else:
            raise ArgumentError(f"attribute {change!r} is not +key=value or -key")
    return attributes


def _put_topics(
    state: BrokerState, command: RemotingCommand, configs: list[TopicConfig]
) -> Answer | Awaitable[Answer]:
    for config in configs:
        fault = topic_fault(config.topic)
        if fault is not None:
            return command.response(ResponseCode.INVALID_PARAMETER, fault)
        if state.topics.is_system(config.topic):
            return _system_topic(command, config.topic)
    changed = [c for c in configs if state.topics.get(c.topic) != c]
    for config in changed:
        state.topics.put(config, state.clock.time_ms())
    if not changed:
        return command.response()
    state.save_configuration()
    return state.answer_registered(command.response())


def _system_topic(command: RemotingCommand, topic: str) -> RemotingCommand:
    return command.response(
        ResponseCode.INVALID_PARAMETER,
        f"The topic[{topic}] is conflict with system topic.",
    )


def _topic_offset(state: BrokerState, topic: str, queue_id: int) -> TopicOffset:
    end = state.store.max_offset(topic, queue_id)
    newest = state.store.store_timestamp(topic, queue_id, end - 1)
    return TopicOffset(
        last_update_timestamp=newest or 0,
        max_offset=end,
        min_offset=state.store.min_offset(topic, queue_id),
    )
