"""Bodies of consume statistics: 208, 317, time spans (303), rates (315)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final

import msgspec

from rmqcore.errors import BodyError
from rmqcore.model import MessageQueue
from rmqcore.protocol.fastjson import dumps

from .codec import (
    BodyDecoder,
    Int64,
    WireQueue,
    by_queue,
    empty_tables,
    pair_queue_keys,
    queue_pairs,
    reshape_tables,
    rewrite_one_table,
)

_TABLE_BEGIN: Final = b'"offsetTable":[['
_NEXT_STATS: Final = b'}}},{"consumeTps":'


class ConsumeOffset(msgspec.Struct, frozen=True, rename="camel"):
    """The progress of a group on one queue.

    A broker answers 0 for `consumer_offset` even when nothing was committed; the
    timestamp is the store time (ms) of the last message consumed, 0 when unknown.
    """

    broker_offset: Int64 = 0
    consumer_offset: Int64 = 0
    last_timestamp: Int64 = 0
    pull_offset: Int64 = 0


class ConsumeStats(msgspec.Struct, frozen=True, rename="camel"):
    """The progress of a group on the queues of its topics on one broker (208)."""

    consume_tps: float = 0.0
    offset_table: list[tuple[WireQueue, ConsumeOffset]] = []

    def by_queue(self) -> dict[MessageQueue, ConsumeOffset]:
        """Return the offsets as a table."""
        return by_queue(self.offset_table)


class BrokerConsumeStats(msgspec.Struct, frozen=True, rename="camel"):
    """The progress of all groups of a broker (317), one `ConsumeStats` per topic."""

    broker_addr: str = ""
    consume_stats_list: list[dict[str, list[ConsumeStats]]] = []
    total_diff: Int64 = 0
    total_inflight_diff: Int64 = 0


class ConsumeTimeSpan(msgspec.Struct, frozen=True, rename="camel"):
    """Store times (ms) at the ends of a queue and at the committed offset (303)."""

    message_queue: WireQueue
    consume_time_stamp: Int64 = 0
    delay_time: Int64 = 0
    max_time_stamp: Int64 = 0
    min_time_stamp: Int64 = 0


class _TimeSpans(msgspec.Struct, rename="camel"):
    consume_time_span_set: list[ConsumeTimeSpan] = []


class StatsItem(msgspec.Struct, frozen=True):
    """Sum, rate per second and average size of one statistic over one span."""

    avgpt: float = 0.0
    sum: Int64 = 0
    tps: float = 0.0


class BrokerStatsData(msgspec.Struct, frozen=True, rename="camel"):
    """One statistic over a minute, an hour and a day (315)."""

    stats_day: StatsItem = StatsItem()
    stats_hour: StatsItem = StatsItem()
    stats_minute: StatsItem = StatsItem()


def _rewrite_all_stats(data: bytes) -> bytes | None:
    paired = pair_queue_keys(empty_tables(data, b"offsetTable"))
    if paired is None:
        return None
    # Only a count tells the end of a table from the same bytes in a name.
    ends = paired.count(b"}}}]") + paired.count(_NEXT_STATS)
    if ends != paired.count(_TABLE_BEGIN):
        return None
    return paired.replace(b"}}}]", b"}]]}]").replace(
        _NEXT_STATS, b"}]]}," + _NEXT_STATS[4:]
    )


def _reshape_all_stats(value: dict[str, Any]) -> None:
    for groups in value.get("consumeStatsList") or ():
        if not isinstance(groups, dict):
            raise BodyError("consumeStatsList: expected objects by group")
        for stats in groups.values():
            for item in stats if isinstance(stats, list) else ():
                if isinstance(item, dict):
                    item["offsetTable"] = queue_pairs(item.get("offsetTable"))


_STATS: Final = BodyDecoder(
    ConsumeStats, rewrite=rewrite_one_table, reshape=reshape_tables("offsetTable")
)
_ALL_STATS: Final = BodyDecoder(
    BrokerConsumeStats, rewrite=_rewrite_all_stats, reshape=_reshape_all_stats
)
_TIME_SPANS: Final = BodyDecoder(_TimeSpans)
_RATES: Final = BodyDecoder(BrokerStatsData)


def decode_consume_stats(data: bytes) -> ConsumeStats:
    """Return the progress of a group (208)."""
    return _STATS.decode(data)


def encode_consume_stats(
    offsets: Mapping[MessageQueue, ConsumeOffset], consume_tps: float = 0.0
) -> bytes:
    """Return the body of 208; the rate is messages per second."""
    return dumps(_stats_members(offsets, consume_tps))


def _stats_members(
    offsets: Mapping[MessageQueue, ConsumeOffset], consume_tps: float
) -> dict[str, Any]:
    return {
        "consumeTps": consume_tps,
        "offsetTable": {
            queue: msgspec.to_builtins(offset) for queue, offset in offsets.items()
        },
    }


def decode_broker_consume_stats(data: bytes) -> BrokerConsumeStats:
    """Return the progress of all groups of a broker (317)."""
    return _ALL_STATS.decode(data)


def encode_broker_consume_stats(stats: BrokerConsumeStats) -> bytes:
    """Return the body of 317."""
    return dumps(
        {
            "brokerAddr": stats.broker_addr,
            "consumeStatsList": [
                {
                    group: [_stats_members(s.by_queue(), s.consume_tps) for s in items]
                    for group, items in groups.items()
                }
                for groups in stats.consume_stats_list
            ],
            "totalDiff": stats.total_diff,
            "totalInflightDiff": stats.total_inflight_diff,
        }
    )


def decode_consume_time_spans(data: bytes) -> list[ConsumeTimeSpan]:
    """Return the store times of a topic's queues (303)."""
    return _TIME_SPANS.decode(data).consume_time_span_set


def encode_consume_time_spans(
    spans: Sequence[ConsumeTimeSpan], zone: tzinfo = UTC
) -> bytes:
    """Return the body of 303; its texts show the times in the given zone."""
    return dumps({"consumeTimeSpanSet": [_span_members(span, zone) for span in spans]})


def _span_members(span: ConsumeTimeSpan, zone: tzinfo) -> dict[str, Any]:
    return {
        "consumeTimeStamp": span.consume_time_stamp,
        "consumeTimeStampStr": _time_text(span.consume_time_stamp, zone),
        "delayTime": span.delay_time,
        "maxTimeStamp": span.max_time_stamp,
        "maxTimeStampStr": _time_text(span.max_time_stamp, zone),
        "messageQueue": span.message_queue.queue(),
        "minTimeStamp": span.min_time_stamp,
        "minTimeStampStr": _time_text(span.min_time_stamp, zone),
    }


def _time_text(time_ms: int, zone: tzinfo) -> str:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    moment = (epoch + timedelta(milliseconds=time_ms)).astimezone(zone)
    return f"{moment:%Y-%m-%d#%H:%M:%S}:{moment.microsecond // 1000:03d}"


def decode_broker_stats(data: bytes) -> BrokerStatsData:
    """Return one statistic (315)."""
    return _RATES.decode(data)


def encode_broker_stats(stats: BrokerStatsData) -> bytes:
    """Return the body of 315."""
    return dumps(msgspec.to_builtins(stats))
