"""Turns a broker's report on itself (28), a table of texts, into figures.

Brokers of different releases report different things, and some write -1 for what they
cannot tell. What is not in the table is None, with a reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from dashboard.live.broker_documents import BrokerFigures, DelayState, PoolState

NOT_TOLD: Final = "not_told"
OLDER_BROKER: Final = "older_broker"
NO_MESSAGES: Final = "no_messages"

SINCE_5: Final = frozenset({"active", "put_p99_ms", "put_p999_ms"})
"""Figures that only brokers of 5.x and, in part, late ones of 4.9 report."""

_POOLS: Final = (
    ("send", "sendThreadPoolQueue"),
    ("pull", "pullThreadPoolQueue"),
    ("lite_pull", "litePullThreadPoolQueue"),
    ("query", "queryThreadPoolQueue"),
    ("ack", "ackThreadPoolQueue"),
)
_SIZES: Final = {"B": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_SIZE: Final = r"([\d.,]+) ([KMGTPE]?)i?B"
_CAPACITY: Final = re.compile(rf"Total : {_SIZE}, Free : {_SIZE}")
_BUCKET: Final = re.compile(r"\[([^\]]+)\]:(\d+)")
_DELAY: Final = re.compile(r"scheduleMessageOffset_(\d+)")
_SPANS: Final = 3

Table = Mapping[str, str]


def figures_of(table: Table) -> tuple[BrokerFigures, dict[str, str]]:
    """Return a broker's figures, and the reasons for those that are not known."""
    capacity = _CAPACITY.search(table.get("commitLogDirCapacity", ""))
    figures: BrokerFigures = {
        "version": table.get("brokerVersionDesc") or None,
        "boot_at": _count(table, "bootTimestamp"),
        "active": _flag(table, "brokerActive"),
        "rates_in": _rates(table, "putTps"),
        # As 4.x spells it.
        "rates_out": _rates(table, "getTransferredTps", "getTransferedTps"),
        "today_in": _today(table, "msgPutTotal"),
        "today_out": _today(table, "msgGetTotal"),
        "put_failed": _count(table, "putMessageFailedTimes"),
        "put_p99_ms": _number(table, "putLatency99"),
        "put_p999_ms": _number(table, "putLatency999"),
        "put_max_ms": _count(table, "putMessageEntireTimeMax"),
        "put_spread": _spread(table),
        "page_cache_ms": _count(table, "pageCacheLockTimeMills"),
        "dispatch_bytes": _count(table, "dispatchBehindBytes"),
        "flush_bytes": _size(table.get("remainHowManyDataToFlush", "")),
        "disk_ratio": _number(table, "commitLogDiskRatio"),
        "index_disk_ratio": _number(table, "consumeQueueDiskRatio"),
        "disk_total": _bytes(capacity[1], capacity[2]) if capacity else None,
        "disk_free": _bytes(capacity[3], capacity[4]) if capacity else None,
        "log_min": _count(table, "commitLogMinOffset"),
        "log_max": _count(table, "commitLogMaxOffset"),
        "earliest_at": _count(table, "earliestMessageTimeStamp"),
        "pools": _pools(table),
        "delays": _delays(table),
    }
    return figures, _reasons(figures, table)


def _reasons(figures: BrokerFigures, table: Table) -> dict[str, str]:
    reasons = {key: NOT_TOLD for key, value in figures.items() if value is None}
    reasons |= {
        key: NOT_TOLD for key in ("rates_in", "rates_out") if not _known(figures, key)
    }
    if (figures["version"] or "").startswith(("V3", "V4")):
        reasons |= dict.fromkeys(SINCE_5 & reasons.keys(), OLDER_BROKER)
    reasons |= {
        key: NO_MESSAGES
        for key, word in (
            ("earliest_at", "earliestMessageTimeStamp"),
            ("log_min", "commitLogMinOffset"),
        )
        if table.get(word) == "-1"
    }
    return reasons


def _known(figures: BrokerFigures, key: str) -> bool:
    rates = figures["rates_in"] if key == "rates_in" else figures["rates_out"]
    return rates[0] is not None


def _number(table: Table, key: str) -> float | None:
    """Return a number that is not negative; Java may write a decimal comma."""
    try:
        value = float(table[key].replace(",", "."))
    except (KeyError, ValueError):
        return None
    return value if 0 <= value < float("inf") else None


def _count(table: Table, key: str) -> int | None:
    text = table.get(key, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


def _flag(table: Table, key: str) -> bool | None:
    return {"true": True, "false": False}.get(table.get(key, ""))


def _today(table: Table, key: str) -> int | None:
    end = _count(table, f"{key}TodayNow")
    begin = _count(table, f"{key}TodayMorning")
    return None if end is None or begin is None or end < begin else end - begin


def _rates(table: Table, *keys: str) -> list[float | None]:
    """Return the rates over 10, 60 and 600 s; unfinished spans are left out."""
    for key in keys:
        if key in table:
            texts = table[key].replace(",", ".").split()[:_SPANS]
            rates = [_number({"": text}, "") for text in texts]
            return [*rates, *[None] * (_SPANS - len(rates))]
    return [None] * _SPANS


def _spread(table: Table) -> list[tuple[str, int]]:
    found = _BUCKET.findall(table.get("putMessageDistributeTime", ""))
    return [(name, int(count)) for name, count in found]


def _pools(table: Table) -> list[PoolState]:
    pools: list[PoolState] = [
        {
            "name": name,
            "size": _count(table, f"{key}Size"),
            "capacity": _count(table, f"{key}Capacity"),
            "wait_ms": _count(table, f"{key}HeadWaitTimeMills"),
        }
        for name, key in _POOLS
    ]
    pools.append(
        {
            "name": "end_transaction",
            "size": _count(table, "EndTransactionQueueSize"),
            "capacity": _count(table, "EndTransactionThreadPoolQueueCapacity"),
            "wait_ms": None,
        }
    )
    return [
        pool
        for pool in pools
        if pool["size"] is not None or pool["wait_ms"] is not None
    ]


def _delays(table: Table) -> list[DelayState]:
    delays: list[DelayState] = []
    for key, text in table.items():
        level = _DELAY.fullmatch(key)
        done, _, end = text.partition(",")
        if level and done.isdigit() and end.isdigit():
            waiting = max(0, int(end) - int(done))
            delays.append({"level": int(level[1]), "waiting": waiting})
    return sorted(delays, key=lambda delay: delay["level"])


def _size(text: str) -> int | None:
    """Return the bytes that a text such as "1.5 MiB" means."""
    found = re.fullmatch(_SIZE, text.strip())
    return _bytes(found[1], found[2]) if found else None


def _bytes(number: str, unit: str) -> int | None:
    try:
        return round(float(number.replace(",", ".")) * (1 << 10 * _SIZES[unit or "B"]))
    except ValueError:
        return None
