"""Headers of sending: new messages, messages sent back, replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .codec import Header, Int32, Int64, Names, RequestHeader, TopicRequestHeader


@dataclass(frozen=True, slots=True, kw_only=True)
class SendMessageRequestHeader(TopicRequestHeader):
    """10 and 324; with one-letter names 310, 320 and 325.

    With `queue_id` below 0, the broker chooses. `properties` is the string form of
    `protocol.properties`. `logical_broker` is the field `n` of the short form.
    """

    short_mark = "a"
    short_names: ClassVar[Names] = {
        "producer_group": "a",
        "topic": "b",
        "default_topic": "c",
        "default_topic_queue_nums": "d",
        "queue_id": "e",
        "sys_flag": "f",
        "born_timestamp": "g",
        "flag": "h",
        "properties": "i",
        "reconsume_times": "j",
        "unit_mode": "k",
        "max_reconsume_times": "l",
        "batch": "m",
        "logical_broker": "n",
    }

    producer_group: str
    topic: str
    default_topic: str
    default_topic_queue_nums: Int32
    queue_id: Int32
    sys_flag: Int32
    born_timestamp: Int64
    flag: Int32
    properties: str | None = None
    reconsume_times: Int32 | None = None
    unit_mode: bool | None = None
    batch: bool | None = None
    max_reconsume_times: Int32 | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SendMessageResponseHeader(Header):
    """Answer to a send that was stored (codes 0, 10, 11 and 12).

    `msg_id` is the offset id, comma-joined for a batch; the id that applications see
    is `transaction_id`, the UNIQ_KEY.
    """

    wire_names: ClassVar[Names] = {"msg_region": "MSG_REGION", "trace_on": "TRACE_ON"}

    msg_id: str
    queue_id: Int32
    queue_offset: Int64
    transaction_id: str | None = None
    batch_uniq_id: str | None = None
    recall_handle: str | None = None
    msg_region: str | None = None
    trace_on: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSendMsgBackRequestHeader(RequestHeader):
    """36: try this message again later; `offset` is its place in the commit log.

    With `delay_level` 0 the broker chooses by the count of attempts; below 0 means the
    dead-letter topic at once.
    """

    offset: Int64
    group: str
    delay_level: Int32
    origin_msg_id: str | None = None
    origin_topic: str | None = None
    unit_mode: bool | None = None
    max_reconsume_times: Int32 | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyMessageRequestHeader(TopicRequestHeader):
    """326, broker to client: the answer of a request-reply exchange."""

    producer_group: str
    topic: str
    default_topic: str
    default_topic_queue_nums: Int32
    queue_id: Int32
    sys_flag: Int32
    born_timestamp: Int64
    flag: Int32
    born_host: str
    store_host: str
    store_timestamp: Int64
    properties: str | None = None
    reconsume_times: Int32 | None = None
    unit_mode: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallMessageRequestHeader(TopicRequestHeader):
    """370: take a delayed message back."""

    topic: str
    recall_handle: str
    producer_group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallMessageResponseHeader(Header):
    """Answer to 370."""

    msg_id: str
