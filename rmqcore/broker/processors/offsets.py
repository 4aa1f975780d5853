"""Offsets: of consumers (14, 15, 43, 45) and of queues (29, 30, 31, 32)."""

from __future__ import annotations

import os
from functools import cache

from rmqcore.broker.state import BrokerState
from rmqcore.protocol.bodies import (
    ConsumerOffsets,
    encode_consumer_offsets,
    encode_delay_offsets,
)
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    GetEarliestMsgStoretimeRequestHeader,
    GetEarliestMsgStoretimeResponseHeader,
    GetMaxOffsetRequestHeader,
    GetMinOffsetRequestHeader,
    OffsetResponseHeader,
    QueryConsumerOffsetRequestHeader,
    SearchOffsetRequestHeader,
    UpdateConsumerOffsetRequestHeader,
    decode_header,
    encode_header,
)
from rmqcore.transport import Channel

_SHARE_OF_MEMORY = 0.4


def query_consumer_offset(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """14: what a group has committed on a queue.

    A group that has committed nothing on a queue whose first message is still young is
    told 0, so that it misses nothing; otherwise it is told that there is no offset.
    """
    header = decode_header(QueryConsumerOffsetRequestHeader, command.ext_fields)
    topic, queue_id = header.topic, header.queue_id
    offset = state.offsets.committed(header.consumer_group, topic, queue_id)
    if offset is not None:
        return _offset(command, offset)
    if header.set_zero_if_not_found is False:
        return command.response(
            ResponseCode.QUERY_NOT_FOUND,
            "Not found, do not set to zero, maybe this group boot first",
        )
    if _first_message_is_young(state, topic, queue_id):
        return _offset(command, 0)
    return command.response(
        ResponseCode.QUERY_NOT_FOUND,
        "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first",
    )


def update_consumer_offset(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """15: a group commits; ignored while a reset of the queue waits."""
    header = decode_header(UpdateConsumerOffsetRequestHeader, command.ext_fields)
    group, topic, queue_id = header.consumer_group, header.topic, header.queue_id
    if group not in state.groups:
        return command.response(
            ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, f"Group {group} not exist!"
        )
    if topic not in state.topics:
        return command.response(
            ResponseCode.TOPIC_NOT_EXIST, f"Topic {topic} not exist!"
        )
    if state.offsets.reset_waits(group, topic, queue_id):
        return command.response(remark="Offset has been previously reset")
    now_ms = state.clock.time_ms()
    state.offsets.commit(group, topic, queue_id, header.commit_offset, now_ms)
    return command.response()


def all_consumer_offsets(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """43: everything that was committed."""
    body = ConsumerOffsets(state.offsets.snapshot(), state.offsets.version)
    return command.response(body=encode_consumer_offsets(body))


def all_delay_offsets(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """45: how far each delay level was delivered."""
    body = encode_delay_offsets(state.delays.all, state.delays.version)
    return command.response(body=body)


def max_offset(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """30: the offset that the next message of a queue gets."""
    header = decode_header(GetMaxOffsetRequestHeader, command.ext_fields)
    return _offset(command, state.store.max_offset(header.topic, header.queue_id))


def min_offset(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """31: the offset of the oldest message of a queue."""
    header = decode_header(GetMinOffsetRequestHeader, command.ext_fields)
    return _offset(command, state.store.min_offset(header.topic, header.queue_id))


def offset_by_time(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """29: the offset at a store time."""
    header = decode_header(SearchOffsetRequestHeader, command.ext_fields)
    offset = state.store.offset_by_time(
        header.topic,
        header.queue_id,
        header.timestamp,
        upper=(header.boundary_type or "").upper() == "UPPER",
    )
    return _offset(command, offset)


def earliest_store_time(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """32: when the oldest message of a queue was stored; -1 when there is none."""
    header = decode_header(GetEarliestMsgStoretimeRequestHeader, command.ext_fields)
    topic, queue_id = header.topic, header.queue_id
    first = state.store.min_offset(topic, queue_id)
    timestamp = state.store.store_timestamp(topic, queue_id, first)
    answer = GetEarliestMsgStoretimeResponseHeader(
        timestamp=-1 if timestamp is None else timestamp
    )
    return command.response(ext_fields=encode_header(answer))


# Private, in order of first use


def _offset(command: RemotingCommand, offset: int) -> RemotingCommand:
    answer = OffsetResponseHeader(offset=offset)
    return command.response(ext_fields=encode_header(answer))


def _first_message_is_young(state: BrokerState, topic: str, queue_id: int) -> bool:
    """Tell whether message 0 is there and so new that it is likely in memory."""
    entry = state.store.entry(topic, queue_id, 0)
    if entry is None:
        return False
    _, end = state.store.log_offsets
    return end - entry[0] <= _SHARE_OF_MEMORY * _memory_bytes()


@cache
def _memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
