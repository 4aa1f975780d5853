"""Operating a broker: resets (222), clones (314), settings (25, 26), clean-ups.

306 and 316 forget queues of topics that are gone, 329 removes expired log files.
"""

from __future__ import annotations

from rmqcore.broker.state import BrokerState
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue
from rmqcore.protocol.bodies import encode_data_version, encode_queue_offsets
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    CloneGroupOffsetRequestHeader,
    GetBrokerConfigResponseHeader,
    ResetOffsetRequestHeader,
    decode_header,
    encode_header,
)
from rmqcore.transport import Channel

from .relays import offset_at, reset_by_members


def reset_offsets(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """222: set a group's offsets by time or by number; members follow as they pull."""
    header = decode_header(ResetOffsetRequestHeader, command.ext_fields)
    topic, group = header.topic, header.group
    config = state.topics.get(topic)
    if config is None:
        return command.response(
            ResponseCode.TOPIC_NOT_EXIST, f"Topic {topic} does not exist"
        )
    if not state.settings.server_side_reset:
        return reset_by_members(state, command, header, config.write_queue_nums)
    if group not in state.groups:
        return command.response(
            ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, f"Group {group} does not exist"
        )
    only = -1 if header.queue_id is None else header.queue_id
    if only >= 0 and header.offset is not None and header.offset != -1:
        low = state.store.min_offset(topic, only)
        high = state.store.max_offset(topic, only)
        if not low <= header.offset <= high + 1:
            return command.response(
                ResponseCode.SYSTEM_ERROR,
                f"Target offset {header.offset} not in consume queue range "
                f"[{low}-{high}]",
            )
        targets = {only: header.offset}
    else:
        queues = [only] if only >= 0 else range(config.read_queue_nums)
        targets = {
            queue_id: offset_at(state, topic, queue_id, header.timestamp)
            for queue_id in queues
        }
    if not targets:
        return command.response(ResponseCode.SYSTEM_ERROR, "No queues to reset.")
    now_ms = state.clock.time_ms()
    for queue_id, offset in targets.items():
        state.offsets.reset(group, topic, queue_id, offset, now_ms)
    body = encode_queue_offsets(
        {
            MessageQueue(topic, state.settings.name, queue_id): offset
            for queue_id, offset in targets.items()
        }
    )
    return command.response(body=body)


def clone_offsets(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """314: give one group the committed offsets of another."""
    header = decode_header(CloneGroupOffsetRequestHeader, command.ext_fields)
    source, target = header.src_group, header.dest_group
    topics = {header.topic} if header.topic else state.offsets.topics_of(source)
    members = state.consumers.group(source)
    for topic in topics:
        is_read = members is None or topic in members.subscriptions
        if topic in state.topics and (header.offline or is_read):
            state.offsets.clone(source, target, topic)
    return command.response()


def broker_settings(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """26: the settings as lines `name=value`."""
    lines = (
        f"{name}={value}" for name, value in state.settings.as_properties().items()
    )
    answer = GetBrokerConfigResponseHeader(
        version=encode_data_version(state.topics.version).decode()
    )
    return command.response(
        ext_fields=encode_header(answer), body="\n".join(lines).encode()
    )


def change_settings(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """25: change settings, given as lines `name=value`, until the broker stops."""
    try:
        lines = command.body.decode().splitlines()
        pairs = (line.partition("=") for line in lines if "=" in line)
        wanted = {name.strip(): value.strip() for name, _, value in pairs}
        state.settings = state.settings.changed(wanted)
    except (UnicodeDecodeError, ArgumentError) as error:
        return command.response(ResponseCode.SYSTEM_ERROR, str(error))
    state.groups.auto_create = state.settings.auto_create_group
    return command.response()


def drop_unused_queues(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """306 and 316: forget the queues of topics that no longer exist."""
    state.store.keep_topics(state.topics.all)
    return command.response()


def drop_expired_files(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """329: remove log files past their age now."""
    settings = state.settings
    state.store.expire(state.clock.time_ms(), settings.keep_ms, settings.max_log_bytes)
    return command.response()
