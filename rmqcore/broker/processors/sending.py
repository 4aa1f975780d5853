"""Sending: one message (10, 310) or a batch (320).

The checks and their order are RocketMQ's: the topic's name, topics closed to clients,
the topic itself (created from the default topic where that is allowed), the queue, the
message. A batch is stored completely or not at all, its messages one after another.
"""

from __future__ import annotations

import struct
from collections.abc import Awaitable
from typing import Final

import msgspec

from rmqcore.broker.batches import batch_columns
from rmqcore.broker.names import CLOSED_TOPICS, topic_fault
from rmqcore.broker.properties import with_property
from rmqcore.broker.records import (
    DELAYING,
    delay_level,
    delayed_properties,
    is_timer_message,
    properties_fault,
    stored_properties,
)
from rmqcore.broker.state import Answer, BrokerState
from rmqcore.errors import BodyError, StoreError
from rmqcore.model import TopicConfig
from rmqcore.model.topic import RETRY_PREFIX, SCHEDULE_TOPIC, dead_letter_topic
from rmqcore.protocol.codes import VERSION_V3_4_9, RequestCode, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import SendMessageRequestHeader, decode_header
from rmqcore.protocol.ids import encode_offset_msg_ids, pack_host
from rmqcore.store import Envelope, PendingRecord
from rmqcore.transport import Channel

DEAD_LETTER_QUEUES: Final = 1
_TRANSACTION_MASK: Final = 3 << 2


class SendFields(msgspec.Struct, gc=False):
    """The fields of a send's header that the broker needs."""

    topic: str
    queue_id: int
    sys_flag: int
    born_timestamp: int
    flag: int
    properties: str
    reconsume_times: int
    max_reconsume_times: int | None
    is_batch: bool


def send_message(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> Answer | Awaitable[Answer]:
    """Store one message, or the messages of a batch, and say where they are."""
    fields = _fields(command)
    try:
        topic = state.topics.get(fields.topic) or _new_topic(state, command)
        _save_topics(state)
    except StoreError as error:
        return _not_stored(command, error)
    refusal = _refusal(state, command, fields, topic)
    if refusal is not None:
        return refusal
    assert topic is not None  # noqa: S101 - a missing topic was refused
    queue_id = fields.queue_id
    if queue_id < 0:
        queue_id = state.chance.randrange(max(1, topic.write_queue_nums))
    if fields.is_batch or command.code == RequestCode.SEND_BATCH_MESSAGE:
        return _send_batch(state, channel, command, fields, queue_id)
    return _send_one(state, channel, command, fields, queue_id)


def store(
    state: BrokerState, command: RemotingCommand, record: PendingRecord
) -> int | RemotingCommand:
    """Append a record and return where it ends, or the answer that says why not."""
    try:
        _save_topics(state)
        placed = state.store.append(record, state.clock.time_ms())
    except (struct.error, StoreError) as error:
        return _not_stored(command, error)
    state.statistics.add_stored(record.topic, state.settings.cluster, 1, record.size)
    return placed.end


def when_flushed(
    state: BrokerState,
    command: RemotingCommand,
    response: RemotingCommand,
    log_offset: int,
) -> Answer | Awaitable[Answer]:
    """Return the response, at once or when the log is on disk up to an offset."""
    if not state.settings.sync_flush:
        return response
    return _answer_flushed(state, command, response, log_offset)


# Private, in order of first use


def _fields(command: RemotingCommand) -> SendFields:
    """Read the header, the short names by hand, because this is done per message.

    Anything unexpected is read again by the typed header, which also accepts the long
    names and says what is wrong.
    """
    sent = command.ext_fields
    try:
        return SendFields(
            sent["b"],
            int(sent["e"]),
            int(sent["f"]),
            int(sent["g"]),
            int(sent["h"]),
            sent.get("i", ""),
            int(sent.get("j", 0)),
            int(sent["l"]) if "l" in sent else None,
            sent.get("m") == "true",
        )
    except (KeyError, ValueError):
        header = decode_header(SendMessageRequestHeader, sent)
        return SendFields(
            header.topic,
            header.queue_id,
            header.sys_flag,
            header.born_timestamp,
            header.flag,
            header.properties or "",
            header.reconsume_times or 0,
            header.max_reconsume_times,
            bool(header.batch),
        )


def _new_topic(state: BrokerState, command: RemotingCommand) -> TopicConfig | None:
    header = decode_header(SendMessageRequestHeader, command.ext_fields)
    now_ms = state.clock.time_ms()
    if header.topic in CLOSED_TOPICS or topic_fault(header.topic) is not None:
        return None
    topic = None
    if state.settings.auto_create_topic:
        topic = state.topics.inherit(
            header.topic,
            header.default_topic,
            header.default_topic_queue_nums,
            now_ms,
        )
    if topic is None and header.topic.startswith(RETRY_PREFIX):
        topic = state.topics.ensure(header.topic, 1, now_ms)
    if topic is not None:
        state.topics_changed()
    return topic


def _save_topics(state: BrokerState) -> None:
    """Write topics that could not be written: no message may outlive its topic."""
    if state.topics.changed:
        state.topics_changed()


def _refusal(
    state: BrokerState,
    command: RemotingCommand,
    fields: SendFields,
    topic: TopicConfig | None,
) -> RemotingCommand | None:
    """Return the answer to a message that is refused, None when it is accepted."""
    if fields.topic in CLOSED_TOPICS:
        return command.response(
            ResponseCode.NO_PERMISSION,
            f"Sending message to topic[{fields.topic}] is forbidden.",
        )
    if topic is None:
        fault = topic_fault(fields.topic)
        if fault is not None:
            return command.response(ResponseCode.INVALID_PARAMETER, fault)
        return command.response(
            ResponseCode.TOPIC_NOT_EXIST,
            f"topic[{fields.topic}] not exist, apply first please!",
        )
    queues = max(topic.write_queue_nums, topic.read_queue_nums)
    if fields.queue_id >= queues:
        return command.response(
            ResponseCode.INVALID_PARAMETER,
            f"request queueId[{fields.queue_id}] is illegal, "
            f"topic {topic.topic} has {queues} queues",
        )
    if not command.body or len(command.body) > state.settings.max_message_bytes:
        return command.response(
            ResponseCode.MESSAGE_ILLEGAL,
            f"the message is illegal: body of {len(command.body)} bytes, "
            f"1 to {state.settings.max_message_bytes} allowed",
        )
    if fields.sys_flag & _TRANSACTION_MASK:
        return command.response(
            ResponseCode.NO_PERMISSION,
            f"the broker[{state.settings.name}] sending transaction message "
            "is forbidden",
        )
    return None


def _send_one(
    state: BrokerState,
    channel: Channel,
    command: RemotingCommand,
    fields: SendFields,
    queue_id: int,
) -> Answer | Awaitable[Answer]:
    properties, values = stored_properties(
        fields.properties, state.own_properties, state.chance
    )
    topic, placed_in = fields.topic, queue_id
    if topic.startswith(RETRY_PREFIX):
        group = topic.removeprefix(RETRY_PREFIX)
        goes_dead = _is_dead_letter(state, command, fields, group)
        if isinstance(goes_dead, RemotingCommand):
            return goes_dead
        if goes_dead:
            topic = dead_letter_topic(group)
            if topic not in state.topics:
                now_ms = state.clock.time_ms()
                state.topics.ensure(topic, DEAD_LETTER_QUEUES, now_ms)
                try:
                    state.topics_changed()
                except StoreError as error:
                    return _not_stored(command, error)
            queue_id = placed_in = 0
            properties = with_property(properties, b"DELAY", b"-1")
            values[b"DELAY"] = b"-1"
    fault = properties_fault(properties)
    if fault is not None:
        return command.response(
            ResponseCode.MESSAGE_ILLEGAL, f"the message is illegal: {fault}"
        )
    if not DELAYING.isdisjoint(values):
        level = delay_level(values, len(state.settings.delay_levels_ms))
        if level:
            properties = delayed_properties(properties, topic, queue_id)
            topic, placed_in = SCHEDULE_TOPIC, level - 1
        elif is_timer_message(values):
            return command.response(
                ResponseCode.SYSTEM_ERROR,
                "accurate timer message is not enabled, timerWheelEnable is false",
            )
    envelope = _envelope(state, channel, fields, topic, placed_in)
    item = (fields.flag, command.body, properties, values)
    try:
        placed = state.store.append_one(envelope, item, state.clock.time_ms())
    except (struct.error, StoreError) as error:
        return _not_stored(command, error)
    state.statistics.add_stored(topic, state.settings.cluster, 1, placed.size)
    response = command.response(
        ext_fields={
            "msgId": f"{state.store_host_hex}{placed.log_offset:016X}",
            "queueId": str(queue_id),
            "queueOffset": str(placed.queue_offset),
            "transactionId": values[b"UNIQ_KEY"].decode(),
            "MSG_REGION": state.settings.region,
            "TRACE_ON": "true",
        }
    )
    return when_flushed(state, command, response, placed.end)


def _is_dead_letter(
    state: BrokerState,
    command: RemotingCommand,
    fields: SendFields,
    group: str,
) -> bool | RemotingCommand:
    """Tell whether a message for a retry topic has no retries left.

    A group that holds queue locks consumes in order: its failed messages are not
    retried out of order, but go to the dead letters at once.
    """
    now_ms = state.clock.time_ms()
    config = state.groups.find(group, now_ms)
    if config is None:
        return command.response(
            ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
            f"subscription group not exist, {group}",
        )
    limit = config.retry_max_times
    if command.version >= VERSION_V3_4_9 and fields.max_reconsume_times is not None:
        limit = fields.max_reconsume_times
    return fields.reconsume_times > limit or state.locks.any_held(group, now_ms)


def _envelope(
    state: BrokerState, channel: Channel, fields: SendFields, topic: str, queue_id: int
) -> Envelope:
    return Envelope(
        topic,
        queue_id,
        fields.born_timestamp,
        pack_host(channel.remote_address),
        state.store_host,
        sys_flag=fields.sys_flag,
        reconsume_times=fields.reconsume_times,
    )


def _not_stored(
    command: RemotingCommand, error: struct.error | StoreError
) -> RemotingCommand:
    if isinstance(error, StoreError):
        return command.response(
            ResponseCode.SERVICE_NOT_AVAILABLE,
            "service not available now. It may be caused by one of the following "
            f"reasons: the broker's disk is full or cannot be written: {error}",
        )
    return command.response(
        ResponseCode.MESSAGE_ILLEGAL, f"the message is illegal: {error}"
    )


async def _answer_flushed(
    state: BrokerState,
    command: RemotingCommand,
    response: RemotingCommand,
    log_offset: int,
) -> Answer:
    try:
        await state.wait_flushed(log_offset)
    except StoreError as error:
        return _not_stored(command, error)
    return response


def _send_batch(
    state: BrokerState,
    channel: Channel,
    command: RemotingCommand,
    fields: SendFields,
    queue_id: int,
) -> Answer | Awaitable[Answer]:
    if fields.topic.startswith(RETRY_PREFIX):
        return command.response(
            ResponseCode.MESSAGE_ILLEGAL,
            f"batch request does not support retry group {fields.topic}",
        )
    try:
        columns = batch_columns(command.body)
    except BodyError as error:
        return command.response(ResponseCode.MESSAGE_ILLEGAL, str(error))
    envelope = _envelope(state, channel, fields, fields.topic, queue_id)
    try:
        placed = state.store.append_block(envelope, columns, state.clock.time_ms())
    except (struct.error, StoreError) as error:
        return _not_stored(command, error)
    messages, log_offsets = len(columns.flags), placed.log_offsets
    state.statistics.add_stored(
        fields.topic, state.settings.cluster, messages, placed.end - log_offsets[0]
    )
    unique_keys = columns.unique_keys or [b""] * messages
    response = command.response(
        ext_fields={
            "msgId": encode_offset_msg_ids(state.store_host, log_offsets),
            "queueId": str(queue_id),
            "queueOffset": str(placed.queue_offset),
            "transactionId": b",".join(unique_keys).decode(errors="replace"),
            "MSG_REGION": state.settings.region,
            "TRACE_ON": "true",
        }
    )
    return when_flushed(state, command, response, placed.end)
