"""Single messages: by their place (33) and by key (12)."""

from __future__ import annotations

from typing import Final

from rmqcore.broker.state import BrokerState
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    QueryMessageRequestHeader,
    QueryMessageResponseHeader,
    ViewMessageRequestHeader,
    decode_header,
    encode_header,
)
from rmqcore.transport import Channel

_UNIQUE_KEY_LIMIT: Final = 32


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
