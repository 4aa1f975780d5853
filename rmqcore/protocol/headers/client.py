"""Headers between clients and brokers about the clients themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .codec import Header, Int32, Int64, Names, RequestHeader, TopicRequestHeader


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatResponseHeader(Header):
    """Answer to 34 by a 5.x broker."""

    wire_names: ClassVar[Names] = {
        "support_heartbeat_v2": "IS_SUPPORT_HEART_BEAT_V2",
        "subscription_changed": "IS_SUB_CHANGE",
    }

    support_heartbeat_v2: bool | None = None
    subscription_changed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnregisterClientRequestHeader(RequestHeader):
    """35: a client leaves one producer or consumer group, or both."""

    wire_names: ClassVar[Names] = {"client_id": "clientID"}

    client_id: str
    producer_group: str | None = None
    consumer_group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerListByGroupRequestHeader(RequestHeader):
    """38: the client ids of a group."""

    consumer_group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyConsumerIdsChangedRequestHeader(RequestHeader):
    """40, broker to client: the members of a group have changed."""

    consumer_group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOffsetRequestHeader(TopicRequestHeader):
    """220 (broker to client) and 222: set a group's offsets by time.

    A negative `timestamp` means the end of the queue; `queue_id` -1 means all.
    """

    topic: str
    group: str
    timestamp: Int64
    is_force: bool
    queue_id: Int32 | None = None
    offset: Int64 | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerStatusRequestHeader(TopicRequestHeader):
    """221 (broker to client) and 223: offsets as the members know them."""

    topic: str
    group: str
    client_addr: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerRunningInfoRequestHeader(RequestHeader):
    """307: what a consumer is doing; a broker relays it to the client."""

    consumer_group: str
    client_id: str
    jstack_enable: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeMessageDirectlyRequestHeader(TopicRequestHeader):
    """309: have one consumer consume one message now."""

    consumer_group: str
    client_id: str | None = None
    msg_id: str | None = None
    broker_name: str | None = None
    topic: str | None = None
    topic_sys_flag: Int32 | None = None
    group_sys_flag: Int32 | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTransactionRequestHeader(TopicRequestHeader):
    """37: commit (8), roll back (12) or leave open (0) a half message."""

    producer_group: str
    tran_state_table_offset: Int64
    commit_log_offset: Int64
    commit_or_rollback: Int32
    msg_id: str
    topic: str | None = None
    from_transaction_check: bool | None = None
    transaction_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTransactionStateRequestHeader(TopicRequestHeader):
    """39, broker to producer: what became of a half message."""

    tran_state_table_offset: Int64
    commit_log_offset: Int64
    topic: str | None = None
    msg_id: str | None = None
    transaction_id: str | None = None
    offset_msg_id: str | None = None
