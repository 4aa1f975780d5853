"""Messages that a consumer sends back (36), to be tried again later or given up.

The broker reads the message from its own log and stores it again: under the retry topic
of the group with a delay that grows with every try, or, when the tries are used up,
under the dead-letter topic.
"""

from __future__ import annotations

from collections.abc import Awaitable

from rmqcore.broker.records import delayed
from rmqcore.broker.state import Answer, BrokerState
from rmqcore.broker.statistics import SEND_BACK_NUMS
from rmqcore.model import MessageExt, Perm
from rmqcore.model.topic import dead_letter_topic, retry_topic
from rmqcore.protocol.codes import VERSION_V3_4_9, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import ConsumerSendMsgBackRequestHeader, decode_header
from rmqcore.protocol.ids import pack_host
from rmqcore.protocol.message import decode_records
from rmqcore.protocol.properties import encode_properties
from rmqcore.store import PendingRecord
from rmqcore.transport import Channel

from .sending import DEAD_LETTER_QUEUES, store, when_flushed

_FIRST_RETRY_LEVEL = 3


def send_back(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> Answer | Awaitable[Answer]:
    """36: store a message again for its group's next try, or as a dead letter."""
    header = decode_header(ConsumerSendMsgBackRequestHeader, command.ext_fields)
    now_ms = state.clock.time_ms()
    config = state.groups.find(header.group, now_ms)
    if config is None:
        return command.response(
            ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
            f"subscription group not exist, {header.group}",
        )
    if config.retry_queue_nums <= 0:
        return command.response()
    topic = _ensure(state, retry_topic(header.group), config.retry_queue_nums)
    if Perm.WRITE not in topic:
        return command.response(
            ResponseCode.NO_PERMISSION,
            f"the topic[{retry_topic(header.group)}] sending message is forbidden",
        )
    data = state.store.record_at(header.offset)
    if data is None:
        return command.response(
            ResponseCode.SYSTEM_ERROR, f"look message by offset failed, {header.offset}"
        )
    (message,) = decode_records(data, state.settings.name, inflate_bodies=False)
    limit = config.retry_max_times
    if command.version >= VERSION_V3_4_9 and header.max_reconsume_times is not None:
        limit = header.max_reconsume_times
    level = header.delay_level
    if message.reconsume_times >= limit or level < 0:
        name = dead_letter_topic(header.group)
        _ensure(state, name, DEAD_LETTER_QUEUES)
        record = _again(state, message, name, 0, level=0)
    else:
        queue_id = state.chance.randrange(config.retry_queue_nums)
        level = level or _FIRST_RETRY_LEVEL + message.reconsume_times
        record = _again(
            state, message, retry_topic(header.group), queue_id, level=level
        )
    end = store(state, command, record)
    if isinstance(end, RemotingCommand):
        return end
    key = f"{message.topic}@{header.group}"
    state.statistics.add(SEND_BACK_NUMS, key, 1)
    return when_flushed(state, command, command.response(), end)


# Private, in order of first use


def _ensure(state: BrokerState, topic: str, queue_nums: int) -> Perm:
    if topic not in state.topics:
        state.topics.ensure(topic, queue_nums, state.clock.time_ms())
        state.topics_changed()
    return state.topics.ensure(topic, queue_nums, 0).perm


def _again(
    state: BrokerState, message: MessageExt, topic: str, queue_id: int, *, level: int
) -> PendingRecord:
    """Return the record of the next try; level 0 means no delay."""
    values = dict(message.properties)
    values.setdefault("RETRY_TOPIC", message.topic)
    values.setdefault("ORIGIN_MESSAGE_ID", message.offset_msg_id)
    values["WAIT"] = "false"
    values.pop("DELAY", None)
    level = min(level, len(state.settings.delay_levels_ms))
    if level:
        values["DELAY"] = str(level)
    record = PendingRecord(
        topic,
        queue_id,
        message.body,
        encode_properties(values).encode(),
        message.born_timestamp,
        pack_host(message.born_host),
        state.store_host,
        message.flag,
        message.sys_flag,
        message.reconsume_times + 1,
    )
    return delayed(record, level) if level else record
