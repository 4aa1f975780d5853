"""Single messages: by their place (33), by key (12), by their queue entries (321)."""

from __future__ import annotations

from typing import Final

from rmqcore.broker.state import BrokerState
from rmqcore.protocol.bodies import (
    ConsumeQueueEntry,
    ConsumeQueueSlice,
    encode_consume_queue,
)
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    QueryConsumeQueueRequestHeader,
    QueryMessageRequestHeader,
    QueryMessageResponseHeader,
    ViewMessageRequestHeader,
    decode_header,
    encode_header,
)
from rmqcore.transport import Channel

_UNIQUE_KEY_LIMIT: Final = 32
_ENTRIES_LIMIT: Final = 10_000
"""At most this many queue entries are shown at once, however many were asked for."""


def view_message(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """33: the record at an offset of the commit log."""
    header = decode_header(ViewMessageRequestHeader, command.ext_fields)
    record = state.store.record_at(header.offset)
    if record is None:
        return command.response(
            ResponseCode.SYSTEM_ERROR,
            f"can not find message by the offset, {header.offset}",
        )
    return command.response(body=record)


def query_message(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """12: the newest records of a topic with a key."""
    header = decode_header(QueryMessageRequestHeader, command.ext_fields)
    limit = _UNIQUE_KEY_LIMIT if header.unique_key_query else header.max_num
    found = state.store.find_by_key(
        header.topic,
        header.key,
        limit,
        header.begin_timestamp,
        header.end_timestamp,
    )
    _, end = state.store.log_offsets
    answer = QueryMessageResponseHeader(
        index_last_update_timestamp=state.store.newest_timestamp,
        index_last_update_phyoffset=end,
    )
    if not found:
        return command.response(
            ResponseCode.QUERY_NOT_FOUND,
            "can not find message, maybe time range not correct",
            encode_header(answer),
        )
    return command.response(ext_fields=encode_header(answer), body=b"".join(found))


def query_consume_queue(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """321: entries of a queue as they are stored, and a group's subscription."""
    header = decode_header(QueryConsumeQueueRequestHeader, command.ext_fields)
    topic, queue_id = header.topic, header.queue_id
    if queue_id not in state.store.queue_ids(topic):
        return command.response(
            ResponseCode.SYSTEM_ERROR, f"{queue_id}@{topic} is not exist!"
        )
    low = state.store.min_offset(topic, queue_id)
    high = state.store.max_offset(topic, queue_id)
    if not low <= header.index < high:
        return command.response(
            remark=f"Index {header.index} of {queue_id}@{topic} is not exist!"
        )
    count = min(header.count, _ENTRIES_LIMIT, high - header.index)
    numbers = range(header.index, header.index + count)
    entries = (state.store.entry(topic, queue_id, number) for number in numbers)
    subscription = filter_data = None
    if header.consumer_group is not None:
        group = state.consumers.group(header.consumer_group)
        subscription = None if group is None else group.subscriptions.get(topic)
        if subscription is None:
            filter_data = f"{header.consumer_group}@{topic} is not online!"
    body = ConsumeQueueSlice(
        [ConsumeQueueEntry(*entry) for entry in entries if entry is not None],
        low,
        high,
        subscription,
        filter_data,
    )
    return command.response(body=encode_consume_queue(body))
