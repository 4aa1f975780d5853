"""Bodies of a consumer's own answers: running info (307), direct consuming (309)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from rmqcore.model import MessageQueue, SubscriptionData
from rmqcore.protocol.fastjson import dumps

from .codec import (
    BodyDecoder,
    Int32,
    Int64,
    WireQueue,
    by_queue,
    empty_tables,
    pair_queue_keys,
    reshape_tables,
)
from .heartbeat import WireSubscription, subscription_members

_TABLE_CLOSING: Final = b'}},"properties":'


class RunningProperty:
    """Names in `ConsumerRunningInfo.properties` that admin tools look for."""

    CONSUME_TYPE: Final = "PROP_CONSUME_TYPE"
    CONSUME_ORDERLY: Final = "PROP_CONSUMEORDERLY"
    CLIENT_VERSION: Final = "PROP_CLIENT_VERSION"
    NAMESERVER_ADDR: Final = "PROP_NAMESERVER_ADDR"
    THREADPOOL_CORE_SIZE: Final = "PROP_THREADPOOL_CORE_SIZE"
    CONSUMER_START_TIMESTAMP: Final = "PROP_CONSUMER_START_TIMESTAMP"


class ProcessQueueInfo(msgspec.Struct, frozen=True, rename="camel"):
    """A consumer's state for one queue; times in ms, `droped` as Java spells it."""

    cached_msg_count: Int32 = 0
    cached_msg_max_offset: Int64 = 0
    cached_msg_min_offset: Int64 = 0
    cached_msg_size_in_mi_b: Int64 = msgspec.field(name="cachedMsgSizeInMiB", default=0)
    commit_offset: Int64 = 0
    droped: bool = False
    last_consume_timestamp: Int64 = 0
    last_lock_timestamp: Int64 = 0
    last_pull_timestamp: Int64 = 0
    locked: bool = False
    transaction_msg_count: Int32 = 0
    transaction_msg_max_offset: Int64 = 0
    transaction_msg_min_offset: Int64 = 0
    try_unlock_times: Int64 = 0


class ConsumeStatus(msgspec.Struct, frozen=True):
    """Rates (per second) and times (ms) of one topic in one consumer."""

    consume_failed_msgs: Int64 = msgspec.field(name="consumeFailedMsgs", default=0)
    consume_failed_tps: float = msgspec.field(name="consumeFailedTPS", default=0.0)
    consume_ok_tps: float = msgspec.field(name="consumeOKTPS", default=0.0)
    consume_rt: float = msgspec.field(name="consumeRT", default=0.0)
    pull_rt: float = msgspec.field(name="pullRT", default=0.0)
    pull_tps: float = msgspec.field(name="pullTPS", default=0.0)


class _RunningInfo(msgspec.Struct, rename="camel"):
    jstack: str | None = None
    mq_pop_table: list[tuple[WireQueue, dict[str, Any]]] = []
    mq_table: list[tuple[WireQueue, ProcessQueueInfo]] = []
    properties: dict[str, str] = {}
    status_table: dict[str, ConsumeStatus] = {}
    subscription_set: list[WireSubscription] = []
    user_consumer_info: dict[str, str] = {}


class ConsumeDirectlyResult(msgspec.Struct, frozen=True, rename="camel"):
    """The result of consuming one message at once (309)."""

    auto_commit: bool = True
    consume_result: str | None = None
    order: bool = False
    remark: str | None = None
    spent_time_mills: Int64 = 0


@dataclass(frozen=True, slots=True)
class ConsumerRunningInfo:
    """What a consumer reports that it is doing (307).

    `queues` are those it owns now; `pop_queues` are those that it receives by POP.
    """

    properties: Mapping[str, str]
    queues: Mapping[MessageQueue, ProcessQueueInfo]
    subscriptions: tuple[SubscriptionData, ...] = ()
    statuses: Mapping[str, ConsumeStatus] = field(default_factory=dict)
    user_info: Mapping[str, str] = field(default_factory=dict)
    pop_queues: Mapping[MessageQueue, Mapping[str, Any]] = field(default_factory=dict)
    jstack: str | None = None


def _rewrite_info(data: bytes) -> bytes | None:
    paired = pair_queue_keys(empty_tables(data, b"mqTable", b"mqPopTable"))
    return paired and paired.replace(_TABLE_CLOSING, b'}]],"properties":')


_INFO: Final = BodyDecoder(
    _RunningInfo, rewrite=_rewrite_info, reshape=reshape_tables("mqTable", "mqPopTable")
)
_RESULT: Final = BodyDecoder(ConsumeDirectlyResult)


def decode_consumer_running_info(data: bytes) -> ConsumerRunningInfo:
    """Return what a consumer is doing (307)."""
    body = _INFO.decode(data)
    return ConsumerRunningInfo(
        body.properties,
        by_queue(body.mq_table),
        tuple(item.model() for item in body.subscription_set),
        body.status_table,
        body.user_consumer_info,
        by_queue(body.mq_pop_table),
        body.jstack,
    )


def encode_consumer_running_info(info: ConsumerRunningInfo) -> bytes:
    """Return the body of 307."""
    return dumps(
        {
            "jstack": info.jstack,
            "mqPopTable": info.pop_queues,
            "mqTable": {
                queue: msgspec.to_builtins(held) for queue, held in info.queues.items()
            },
            "properties": info.properties,
            "statusTable": {
                topic: msgspec.to_builtins(status)
                for topic, status in info.statuses.items()
            },
            "subscriptionSet": [
                subscription_members(subscription)
                for subscription in info.subscriptions
            ],
            "userConsumerInfo": info.user_info,
        }
    )


def decode_consume_directly_result(data: bytes) -> ConsumeDirectlyResult:
    """Return the result of consuming one message at once (309)."""
    return _RESULT.decode(data)


def encode_consume_directly_result(result: ConsumeDirectlyResult) -> bytes:
    """Return the body of 309."""
    return dumps(msgspec.to_builtins(result))
