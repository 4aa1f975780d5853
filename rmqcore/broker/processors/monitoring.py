"""The broker's account of itself: runtime (28), statistics (315), replicas (907).

It has no replicas, no timer wheel and no thread pools. For these the table has the
values of a broker with empty pools and an empty wheel, because tools print them in
columns.
"""

from __future__ import annotations

import shutil
from math import fsum

from rmqcore.broker.state import BrokerState
from rmqcore.broker.statistics import (
    BROKER_GET_NUMS,
    BROKER_PUT_NUMS,
    GET_FOUND,
    GET_MISS,
    HOUR_S,
    MINUTE_S,
    SAMPLE_INTERVAL_S,
    TOPIC_PUT_SIZE,
    Rate,
)
from rmqcore.model.topic import SCHEDULE_TOPIC
from rmqcore.protocol.bodies import (
    BrokerStatsData,
    HaStatus,
    StatsItem,
    encode_broker_stats,
    encode_ha_status,
    encode_kv_table,
)
from rmqcore.protocol.codes import VERSION_ORDINAL, ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import ViewBrokerStatsDataRequestHeader, decode_header
from rmqcore.transport import Channel

VERSION_DESCRIPTION = "V5_5_0"


def runtime_info(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """28: a table of texts; rates are three numbers, over 10, 60 and 600 s."""
    table = _times(state) | _counts(state) | _rates(state) | _disk(state)
    for level in range(1, len(state.settings.delay_levels_ms) + 1):
        end = state.store.max_offset(SCHEDULE_TOPIC, level - 1)
        if end:
            table[f"scheduleMessageOffset_{level}"] = f"{state.delays.get(level)},{end}"
    return command.response(body=encode_kv_table(table))


def view_statistic(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """315: sum, rate and average of one statistic over a minute and an hour."""
    header = decode_header(ViewBrokerStatsDataRequestHeader, command.ext_fields)
    counter = state.statistics.counter(header.stats_name, header.stats_key)
    if counter is None:
        return command.response(
            ResponseCode.SYSTEM_ERROR,
            f"The stats <{header.stats_name}> <{header.stats_key}> not exist",
        )
    hour = _item(counter.rate(HOUR_S))
    body = BrokerStatsData(hour, hour, _item(counter.rate(MINUTE_S)))
    return command.response(body=encode_broker_stats(body))


def ha_status(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> RemotingCommand:
    """907: this broker is a master that nobody follows."""
    status = HaStatus(
        master=True,
        master_commit_log_max_offset=state.store.log_offsets[1],
        in_sync_slave_nums=0,
    )
    return command.response(body=encode_ha_status(status))


# Private, in order of first use


def _times(state: BrokerState) -> dict[str, str]:
    now_ms = state.clock.time_ms()
    seconds = (now_ms - state.started_ms) // 1000
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    earliest = state.store.earliest_timestamp()
    return {
        "bootTimestamp": str(state.started_ms),
        "runtime": f"[ {days} days, {hour} hours, {minute} minutes, {second} seconds ]",
        "startAcceptSendRequestTimeStamp": "0",
        "earliestMessageTimeStamp": str(-1 if earliest is None else earliest),
        "brokerVersionDesc": VERSION_DESCRIPTION,
        "brokerVersion": str(VERSION_ORDINAL),
        "brokerActive": "true",
    }


def _counts(state: BrokerState) -> dict[str, str]:
    statistics = state.statistics
    puts = statistics.total(BROKER_PUT_NUMS)
    gets = statistics.total(BROKER_GET_NUMS)
    size = statistics.total(TOPIC_PUT_SIZE)
    low, high = state.store.log_offsets
    flushed = state.store.flushed_offset
    return {
        "putMessageTimesTotal": str(puts),
        "putMessageFailedTimes": "0",
        "putMessageSizeTotal": str(size),
        "putMessageAverageSize": str(size / puts if puts else 0.0),
        "msgPutTotalYesterdayMorning": "0",
        "msgPutTotalTodayMorning": "0",
        "msgPutTotalTodayNow": str(puts),
        "msgGetTotalYesterdayMorning": "0",
        "msgGetTotalTodayMorning": "0",
        "msgGetTotalTodayNow": str(gets),
        "commitLogMinOffset": str(low),
        "commitLogMaxOffset": str(high),
        "remainHowManyDataToFlush": f"{high - flushed} B",
        "dispatchBehindBytes": "0",
        "pageCacheLockTimeMills": "0",
        # Requests are answered where they are read; none of them queues for a thread.
        "sendThreadPoolQueueSize": "0",
        "sendThreadPoolQueueHeadWaitTimeMills": "0",
        "pullThreadPoolQueueHeadWaitTimeMills": "0",
        "queryThreadPoolQueueHeadWaitTimeMills": "0",
        "ackThreadPoolQueueHeadWaitTimeMills": "0",
        "pullThreadPoolQueueSize": "0",
        "ackThreadPoolQueueSize": "0",
        "timerReadBehind": "0",
        "timerOffsetBehind": "0",
        "timerCongestNum": "0",
        "timerEnqueueTps": "0.0",
        "timerDequeueTps": "0.0",
    }


def _rates(state: BrokerState) -> dict[str, str]:
    transferred = _triple(state, BROKER_GET_NUMS)
    return {
        "putTps": _triple(state, BROKER_PUT_NUMS),
        "getFoundTps": _triple(state, GET_FOUND),
        "getMissTps": _triple(state, GET_MISS),
        "getTransferredTps": transferred,
        # As 4.x spells it; its admin tool fails without it.
        "getTransferedTps": transferred,
        "getTotalTps": _triple(state, GET_FOUND, GET_MISS),
    }


def _triple(state: BrokerState, *names: str) -> str:
    spans = (SAMPLE_INTERVAL_S, MINUTE_S, HOUR_S)
    return " ".join(
        str(fsum(state.statistics.total_tps(name, span) for name in names))
        for span in spans
    )


def _disk(state: BrokerState) -> dict[str, str]:
    usage = shutil.disk_usage(state.settings.store_directory)
    # Relative to the usable space: part of the disk is reserved for the superuser.
    ratio = str(round(usage.used / (usage.used + usage.free), 4))
    return {
        "commitLogDiskRatio": ratio,
        f"commitLogDiskRatio_{state.settings.store_directory}": ratio,
        "consumeQueueDiskRatio": ratio,
        "commitLogDirCapacity": (
            f"Total : {_gib(usage.total)}, Free : {_gib(usage.free)}."
        ),
    }


def _gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"


def _item(rate: Rate) -> StatsItem:
    return StatsItem(rate.average, rate.sum, rate.tps)
