"""Dead letters of a group, looked at on request: how many are kept, and which.

A message that a group gave up is stored in `%DLQ%GROUP`, on the broker that had it.
Nothing is committed, joined or created by looking. Bodies are dropped as soon as their
size is known. All functions are for callers without an event loop and raise RmqError
when the cluster refuses or is silent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rmqcore.admin import Admin
from rmqcore.admin.messages import QueueSpan
from rmqcore.errors import ResponseError, RmqError
from rmqcore.model import MessageExt, MessageQueue
from rmqcore.model.message import Property
from rmqcore.model.route import TopicRoute
from rmqcore.model.topic import Perm, dead_letter_topic
from rmqcore.protocol.codes import ResponseCode

from .asking import ask
from .queue_search import (
    Cut,
    QueueSearch,
    Span,
    address_of,
    bounded,
    with_silent,
    within,
)
from .settings import ClusterSettings

MOST_LETTERS: Final = 2_000
"""Dead letters of one look, the newest of each queue."""

HOUR_MS: Final = 3_600_000
_SECONDS: Final = 4.0


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that a group gave up; `message` comes without its body."""

    message: MessageExt
    body_bytes: int

    @property
    def id(self) -> str:
        """The id of this copy, which no other message of the cluster has."""
        return self.message.offset_msg_id

    @property
    def topic(self) -> str | None:
        """The topic from which the group had it; None where it does not say."""
        return original_topic(self.message)

    @property
    def origin_id(self) -> str:
        """The id of the message that was first stored; empty where it has none."""
        return self.message.properties.get(Property.ORIGIN_MESSAGE_ID, "")

    @property
    def born_on(self) -> str:
        """The host of the producer, without its port."""
        return self.message.born_host.rpartition(":")[0] or self.message.born_host


@dataclass(frozen=True, slots=True)
class LetterQueue:
    """One queue of dead letters. What is None was not told; `error` says why.

    `last_hour` counts the letters that came within the last hour. A queue that is not
    `readable` may only be written, so its letters are counted and cannot be read.
    """

    broker: str
    queue_id: int
    kept: int | None = None
    newest_ms: int | None = None
    last_hour: int | None = None
    readable: bool = True
    error: str = ""

    @property
    def place(self) -> str:
        return f"{self.broker} / {self.queue_id}"


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """The dead letters of a group that were stored in a span of time, newest first.

    `exists` is False where no broker that answered has ever given up a message: where
    some have `failed`, nothing else is known. `failed` has the brokers and
    queues that gave no answer, and `write_only` the brokers that do not let their
    letters be read, with their addresses.
    """

    exists: bool = True
    letters: Sequence[DeadLetter] = ()
    queues: Sequence[LetterQueue] = ()
    cuts: Sequence[Cut] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    write_only: Mapping[str, str] = field(default_factory=dict)

    @property
    def partial(self) -> bool:
        """Whether there may be more dead letters than the counts say."""
        return bool(self.failed) or any(each.kept is None for each in self.queues)

    @property
    def kept(self) -> int | None:
        """How many are kept, over all queues that told; None where none did."""
        return _sum([each.kept for each in self.queues], nothing=self._nothing)

    @property
    def last_hour(self) -> int | None:
        """How many came within the last hour; None where no queue answered."""
        return _sum([each.last_hour for each in self.queues], nothing=self._nothing)

    @property
    def hour_partial(self) -> bool:
        return bool(self.failed) or any(each.last_hour is None for each in self.queues)

    @property
    def newest_ms(self) -> int | None:
        """When the newest was stored, ms since the epoch; None without any."""
        known = [each.newest_ms for each in self.queues if each.newest_ms is not None]
        return max(known, default=None)

    @property
    def _nothing(self) -> bool:
        return not self.queues and not self.failed


def original_topic(message: MessageExt) -> str | None:
    """Return the topic from which a group had a message that it failed to consume."""
    properties = message.properties
    return properties.get(Property.RETRY_TOPIC) or properties.get(
        Property.DLQ_ORIGIN_TOPIC
    )


def read_dead_letters(
    cluster: ClusterSettings,
    group: str,
    span: Span,
    now_ms: int,
    silent: Mapping[str, str] | None = None,
) -> DeadLetters:
    """Look at a group's dead letters of a span; `now_ms` ends the last hour.

    `silent` has brokers that may have left the route since they did not answer, with
    the reasons.
    """
    return ask(cluster, lambda admin: _read(admin, group, span, now_ms, silent or {}))


# Private, in order of first use


async def _read(
    admin: Admin, group: str, span: Span, now_ms: int, silent: Mapping[str, str]
) -> DeadLetters:
    topic = dead_letter_topic(group)
    sizes: dict[str, int] = {}

    def without_body(message: MessageExt) -> MessageExt:
        sizes[message.offset_msg_id] = len(message.body)
        return replace(message, body=b"")

    try:
        search = await QueueSearch.of(
            *(admin, topic, "", span.holds), seconds=_SECONDS, shape=without_body
        )
    except ResponseError as error:
        if error.code == ResponseCode.TOPIC_NOT_EXIST:
            return DeadLetters(exists=False, failed=silent)
        raise
    spans, route = await admin.queue_spans(topic), search.route
    chosen, queues = await asyncio.gather(
        bounded(spans, lambda each: within(admin, each, span, route)),
        asyncio.gather(
            *(_told(admin, each, route, now_ms) for each in spans.spans),
            *(_shut(admin, each) for each in _write_only(route, topic)),
        ),
    )
    failed = with_silent(route, chosen.failed, silent)
    found = await search.newest(chosen.spans, MOST_LETTERS, failed)
    return DeadLetters(
        letters=[
            DeadLetter(each, sizes[each.offset_msg_id]) for each in found.messages
        ],
        queues=sorted(queues, key=lambda each: (each.broker, each.queue_id)),
        cuts=found.cuts,
        failed=found.failed,
        write_only=_shut_brokers(route),
    )


async def _told(
    admin: Admin, span: QueueSpan, route: TopicRoute, now_ms: int
) -> LetterQueue:
    """Count a queue's letters; only a newest one of this hour is worth a search.

    Brokers before 5.0 return the last message where all are older.
    """
    queue = span.queue
    told = LetterQueue(queue.broker_name, queue.queue_id, span.max - span.min)
    if span.min == span.max:
        return replace(told, last_hour=0)
    try:
        last = await admin.messages_at(span, span.max - 1, 1, route=route)
        newest = max((each.store_timestamp for each in last.messages), default=None)
        if newest is None:
            return replace(told, error="its newest message cannot be read")
        since = now_ms - HOUR_MS
        first = span.max
        if newest >= since:
            address = address_of(queue, route)
            first = await admin.search_offset(queue, since, address)
    except RmqError as error:
        return replace(told, error=str(error))
    recent = span.max - max(span.min, min(first, span.max))
    return replace(told, newest_ms=newest, last_hour=recent)


def _write_only(route: TopicRoute, topic: str) -> list[MessageQueue]:
    return [
        MessageQueue(topic, each.broker_name, queue_id)
        for each in route.queues
        if Perm.READ not in each.perm
        for queue_id in range(max(each.write_queue_nums, each.read_queue_nums))
    ]


async def _shut(admin: Admin, queue: MessageQueue) -> LetterQueue:
    """Count the letters of a queue that may not be read."""
    told = LetterQueue(queue.broker_name, queue.queue_id, readable=False)
    try:
        low, high = await asyncio.gather(
            admin.min_offset(queue), admin.max_offset(queue)
        )
    except RmqError as error:
        return replace(told, error=str(error))
    return replace(told, kept=high - low, last_hour=0 if low == high else None)


def _shut_brokers(route: TopicRoute) -> dict[str, str]:
    shut = {each.broker_name for each in route.queues if Perm.READ not in each.perm}
    return {
        each.broker_name: each.master or each.any_address or ""
        for each in route.brokers
        if each.broker_name in shut
    }


def _sum(values: Sequence[int | None], *, nothing: bool) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known or nothing else None
