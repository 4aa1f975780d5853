"""Headers of pulling, of offsets, and of looking up single messages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from typing import ClassVar

from .codec import Header, Int32, Int64, Names, TopicRequestHeader


class PullSysFlag(IntFlag):
    """Bits of `PullMessageRequestHeader.sys_flag`."""

    COMMIT_OFFSET = 1
    SUSPEND = 2
    SUBSCRIPTION = 4
    CLASS_FILTER = 8
    LITE_PULL = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PullMessageRequestHeader(TopicRequestHeader):
    """11 and 361: messages of one queue from `queue_offset` on."""

    wire_names: ClassVar[Names] = {"proxy_forward_client_id": "proxyFrowardClientId"}

    consumer_group: str
    topic: str
    queue_id: Int32
    queue_offset: Int64
    max_msg_nums: Int32
    sys_flag: Int32
    commit_offset: Int64
    suspend_timeout_millis: Int64
    sub_version: Int64
    subscription: str | None = None
    expression_type: str | None = None
    max_msg_bytes: Int32 | None = None
    request_source: Int32 | None = None
    proxy_forward_client_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PullMessageResponseHeader(Header):
    """Answer to a pull, whatever its code; the records are in the body."""

    suggest_which_broker_id: Int64
    next_begin_offset: Int64
    min_offset: Int64
    max_offset: Int64
    offset_delta: Int64 | None = None
    topic_sys_flag: Int32 | None = None
    group_sys_flag: Int32 | None = None
    forbidden_type: Int32 | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumerOffsetRequestHeader(TopicRequestHeader):
    """14: a group's committed offset of a queue."""

    consumer_group: str
    topic: str
    queue_id: Int32
    set_zero_if_not_found: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateConsumerOffsetRequestHeader(TopicRequestHeader):
    """15: commit a group's offset on a queue; usually oneway."""

    consumer_group: str
    topic: str
    queue_id: Int32
    commit_offset: Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetResponseHeader(Header):
    """Answer to 14, 29, 30 and 31."""

    offset: Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class GetMaxOffsetRequestHeader(TopicRequestHeader):
    """30: the offset the next message of a queue will get."""

    topic: str
    queue_id: Int32
    committed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetMinOffsetRequestHeader(TopicRequestHeader):
    """31: the offset of the oldest message a queue still has."""

    topic: str
    queue_id: Int32


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOffsetRequestHeader(TopicRequestHeader):
    """29: the offset at a store time (ms); `boundary_type` is LOWER or UPPER."""

    topic: str
    queue_id: Int32
    timestamp: Int64
    boundary_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetEarliestMsgStoretimeRequestHeader(TopicRequestHeader):
    """32: the store time of the oldest message of a queue."""

    topic: str
    queue_id: Int32


@dataclass(frozen=True, slots=True, kw_only=True)
class GetEarliestMsgStoretimeResponseHeader(Header):
    """Answer to 32."""

    timestamp: Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewMessageRequestHeader(TopicRequestHeader):
    """33: one message by its place in the commit log."""

    offset: Int64
    topic: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMessageRequestHeader(TopicRequestHeader):
    """12: messages by key; times are store times in ms.

    `unique_key_query` means that `key` is a UNIQ_KEY. `index_type` and `last_key` are
    of the newest releases.
    """

    wire_names: ClassVar[Names] = {"unique_key_query": "_UNIQUE_KEY_QUERY"}

    topic: str
    key: str
    max_num: Int32
    begin_timestamp: Int64
    end_timestamp: Int64
    unique_key_query: bool | None = None
    index_type: str | None = None
    last_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMessageResponseHeader(Header):
    """Answer to 12: how far the index had come."""

    index_last_update_timestamp: Int64
    index_last_update_phyoffset: Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumeQueueRequestHeader(TopicRequestHeader):
    """321: raw entries of a consume queue."""

    topic: str
    queue_id: Int32
    index: Int64
    count: Int32
    consumer_group: str | None = None
