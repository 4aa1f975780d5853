"""Messages of a group that wait for their next try, by delay level, asked on request.

A message that a group failed to consume waits in a queue of `SCHEDULE_TOPIC_XXXX`, one
for each level, until the level's delay has passed; then it goes to `%RETRY%GROUP`. All
groups and all delayed messages of a broker share these queues, so they are read
backwards, for a few seconds: what could not be read makes a count a lower bound.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rmqcore.admin import Admin
from rmqcore.admin.messages import QueueSpan, TopicSpans
from rmqcore.errors import ResponseError, RmqError
from rmqcore.model import MessageExt
from rmqcore.model.message import Property
from rmqcore.model.route import TopicRoute
from rmqcore.model.topic import SCHEDULE_TOPIC, retry_topic
from rmqcore.protocol.codes import ResponseCode

from .asking import ask
from .queue_search import (
    Found,
    QueueSearch,
    address_of,
    bounded,
    place,
    with_silent,
)
from .settings import ClusterSettings

FIRST_RETRY_LEVEL: Final = 3
"""The level of the first retry; each further one waits a level longer."""

MOST_READ: Final = 2_000
SETTING: Final = "messageDelayLevel"
_DEFAULT: Final = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
_SECONDS: Final = 3.0
_UNITS: Final[Mapping[str, int]] = {
    "ms": 1,
    "s": 1_000,
    "m": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
}
_LEVEL: Final = re.compile(r"([0-9]{1,6})(ms|[smhd])", re.ASCII)


@dataclass(frozen=True, slots=True)
class RetryLevel:
    """One delay level, counted from 1. Times are ms; `next_ms` is since the epoch.

    `waiting` counts the group's messages, of which there may be more where it is a
    `part`; `all_waiting` counts those of everybody, as far as the brokers answered,
    which is not all of them where it is `all_part`. `next_ms` is when the first of the
    group's is due; None without any, and where it may not have been read. `delay_ms`
    is None where brokers differ.
    """

    number: int
    delay_ms: int | None
    waiting: int
    all_waiting: int
    part: bool = False
    all_part: bool = False
    next_ms: int | None = None


@dataclass(frozen=True, slots=True)
class RetryLevels:
    """All levels; `failed` has brokers without an answer, `assumed` those whose delays
    are taken to be RocketMQ's own, because they did not tell."""

    levels: Sequence[RetryLevel] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    assumed: Sequence[str] = ()

    @property
    def waiting(self) -> int:
        return sum(each.waiting for each in self.levels)

    @property
    def part(self) -> bool:
        return bool(self.failed) or any(each.part for each in self.levels)


def read_retry_levels(
    cluster: ClusterSettings,
    group: str,
    now_ms: int,
    silent: Mapping[str, str] | None = None,
) -> RetryLevels:
    """Count what waits for a group in each level; raise RmqError without an answer.

    `silent` has brokers that may have left the route since they did not answer, with
    the reasons.
    """
    return ask(cluster, lambda admin: _read(admin, group, now_ms, silent or {}))


def delays_of(text: str) -> tuple[int, ...]:
    """Return the delays (ms) that a broker's setting names; empty if unreadable."""
    found = [_LEVEL.fullmatch(word) for word in text.split()]
    if not all(found):
        return ()
    return tuple(int(each[1]) * _UNITS[each[2]] for each in found if each)


# Private, in order of first use


async def _read(
    admin: Admin, group: str, now_ms: int, silent: Mapping[str, str]
) -> RetryLevels:
    wanted = retry_topic(group)
    delays: dict[str, tuple[int, ...]] = {}

    def waits(message: MessageExt) -> bool:
        levels = delays.get(message.broker_name, ())
        return (
            message.properties.get(Property.REAL_TOPIC) == wanted
            and message.queue_id < len(levels)
            and message.store_timestamp + levels[message.queue_id] > now_ms
        )

    try:
        search = await QueueSearch.of(
            *(admin, SCHEDULE_TOPIC, "", waits),
            seconds=_SECONDS,
            shape=lambda message: replace(message, body=b""),
        )
    except ResponseError as error:
        if error.code == ResponseCode.TOPIC_NOT_EXIST:
            return RetryLevels(failed=silent)
        raise
    told, (known, assumed) = await asyncio.gather(
        admin.queue_spans(SCHEDULE_TOPIC), _delays(admin)
    )
    delays |= known
    levelled = [
        each
        for each in told.spans
        if each.queue.queue_id < len(delays.get(each.queue.broker_name, ()))
    ]
    route = search.route
    waiting = await bounded(
        TopicSpans(tuple(levelled), with_silent(route, told.failed, silent)),
        lambda each: _not_due(admin, each, route, delays, now_ms),
    )
    found = await search.newest(waiting.spans, MOST_READ, waiting.failed)
    levels = [
        _level(number, waiting, found, delays)
        for number in range(1, max(map(len, delays.values()), default=0) + 1)
    ]
    return RetryLevels(levels, found.failed, assumed)


async def _delays(admin: Admin) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """Return the delays of each broker, and the brokers that did not tell theirs."""
    brokers = await admin.brokers()

    async def one(address: str | None) -> tuple[int, ...]:
        try:
            settings = await admin.broker_settings(address or "")
        except (RmqError, OSError):
            return ()
        return delays_of(settings.get(SETTING, ""))

    told = await asyncio.gather(*(one(each.any_address) for each in brokers))
    names = [each.broker_name for each in brokers]
    silent = [name for name, found in zip(names, told, strict=True) if not found]
    known = {
        name: found or delays_of(_DEFAULT)
        for name, found in zip(names, told, strict=True)
    }
    return known, silent


async def _not_due(
    admin: Admin,
    each: QueueSpan,
    route: TopicRoute,
    delays: Mapping[str, Sequence[int]],
    now_ms: int,
) -> QueueSpan:
    """Return the part of a level's queue whose time has not come."""
    if each.min == each.max:
        return each
    since = now_ms - delays[each.queue.broker_name][each.queue.queue_id]
    low = await admin.search_offset(each.queue, since, address_of(each.queue, route))
    return QueueSpan(each.queue, min(max(each.min, low), each.max), each.max)


def _level(
    number: int,
    waiting: TopicSpans,
    found: Found,
    delays: Mapping[str, Sequence[int]],
) -> RetryLevel:
    mine = [each for each in waiting.spans if each.queue.queue_id == number - 1]
    here = [each for each in found.messages if each.queue_id == number - 1]
    cut = {each.where for each in found.cuts} | set(found.failed)
    all_part = bool(waiting.failed)
    part = all_part or any(place(each.queue) in cut for each in mine)
    due = [each.store_timestamp + delays[each.broker_name][number - 1] for each in here]
    known = {each[number - 1] for each in delays.values() if len(each) >= number}
    return RetryLevel(
        number,
        known.pop() if len(known) == 1 else None,
        waiting=len(here),
        all_waiting=sum(each.max - each.min for each in mine),
        part=part,
        all_part=all_part,
        next_ms=None if part else min(due, default=None),
    )
