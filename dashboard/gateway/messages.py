"""Messages of a cluster, looked for on request: by id, key, time or place in a queue.

Nothing is committed, joined or created by any of it (`rmqcore.admin.messages`). Every
search is bounded, and says where it may have left something out. All functions are for
callers without an event loop and raise RmqError when the cluster refuses or is silent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from rmqcore.admin import Admin
from rmqcore.admin.messages import INNER_BATCH_FLAG, QueueSpan, TopicSpans, unpacked
from rmqcore.errors import BodyError, RmqError, RouteError
from rmqcore.model import MessageExt, MessageQueue
from rmqcore.model.route import TopicRoute
from rmqcore.protocol.compression import COMPRESSED_FLAG, compression_kind

from .asking import ask
from .settings import ClusterSettings

MOST_FOUND: Final = 500
"""Messages of one search, over all queues."""

QUEUES_AT_ONCE: Final = 16
WORK_SECONDS: Final = 5.0
"""After this time a search is content with what it has found."""

FIRST_WINDOW: Final = 64
WIDEST_WINDOW: Final = 65_536

CutKind = Literal["key", "limit", "time"]


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a search may have left something out.

    `key`: a broker gave the most that it gives for one key. `limit`: a queue has more
    than its share of the search. `time`: a queue was not read through in time.
    """

    kind: CutKind
    where: str


@dataclass(frozen=True, slots=True)
class Found:
    """Messages, newest first; `failed` has brokers or queues with their errors."""

    messages: Sequence[MessageExt]
    cuts: Sequence[Cut] = ()
    failed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span:
    """A span of store times in ms since the epoch; None is open."""

    begin_ms: int | None = None
    end_ms: int | None = None


def find_by_id(cluster: ClusterSettings, offset_msg_id: str) -> Found:
    """Return the message with an offset id, which names its broker and place."""

    async def work(admin: Admin) -> Found:
        found = await admin.message_by_id(offset_msg_id)
        return Found([] if found is None else readable([found]))

    return ask(cluster, work)


def find_by_key(
    cluster: ClusterSettings, topic: str, key: str, span: Span, *, unique: bool = False
) -> Found:
    """Return the messages of a topic with a key, from every broker of it."""

    async def work(admin: Admin) -> Found:
        times = {
            name: value
            for name, value in (("begin_ms", span.begin_ms), ("end_ms", span.end_ms))
            if value is not None
        }
        found = await admin.messages_by_key(topic, key, unique=unique, **times)
        cuts = [Cut("key", name) for name in found.cut_short]
        return Found(readable(found.messages), cuts, found.failed)

    return ask(cluster, work)


def find_by_time(
    cluster: ClusterSettings, topic: str, span: Span, *, tag: str = ""
) -> Found:
    """Return the newest messages of a topic that were stored in a span of time."""

    async def bounded(admin: Admin, each: QueueSpan) -> QueueSpan:
        low, high = each.min, each.max
        if low < high and span.begin_ms is not None:
            low = max(low, await admin.search_offset(each.queue, span.begin_ms))
        if low < high and span.end_ms is not None:
            found = await admin.search_offset(each.queue, span.end_ms + 1)
            # Brokers before 5.0 return the last message where all are older.
            high = min(high, found + 1)
        return QueueSpan(each.queue, low, max(low, high))

    def stored_then(message: MessageExt) -> bool:
        at = message.store_timestamp
        return (span.begin_ms is None or at >= span.begin_ms) and (
            span.end_ms is None or at <= span.end_ms
        )

    async def work(admin: Admin) -> Found:
        search = await _Search.of(admin, topic, tag, stored_then)
        queues = await _spans(admin, topic, None)
        spans = await asyncio.gather(*(bounded(admin, each) for each in queues.spans))
        return await search.newest(spans, MOST_FOUND, queues.failed)

    return ask(cluster, work)


def find_newest(
    cluster: ClusterSettings,
    topic: str,
    queue: MessageQueue | None = None,
    *,
    most: int = MOST_FOUND,
) -> Found:
    """Return the newest messages of a topic, or of one of its queues."""

    async def work(admin: Admin) -> Found:
        search = await _Search.of(admin, topic)
        queues = await _spans(admin, topic, queue)
        return await search.newest(queues.spans, most, queues.failed)

    return ask(cluster, work)


def find_oldest(
    cluster: ClusterSettings,
    topic: str,
    queue: MessageQueue | None = None,
    *,
    most: int = MOST_FOUND,
) -> Found:
    """Return the oldest messages of a topic, or of one of its queues."""

    async def work(admin: Admin) -> Found:
        search = await _Search.of(admin, topic)
        queues = await _spans(admin, topic, queue)
        share = _shares(queues.spans, most)
        first = [
            QueueSpan(each.queue, each.min, min(each.max, each.min + share[each.queue]))
            for each in queues.spans
        ]
        found = await search.newest(first, most, queues.failed)
        cuts = [
            Cut("limit", place(each.queue))
            for each, taken in zip(queues.spans, first, strict=True)
            if each.max > taken.max
        ]
        return Found(found.messages, [*found.cuts, *cuts], found.failed)

    return ask(cluster, work)


def find_at(
    cluster: ClusterSettings, queue: MessageQueue, offset: int, count: int
) -> Found:
    """Return the messages of a queue from an offset on, newest first."""

    async def work(admin: Admin) -> Found:
        search = await _Search.of(admin, queue.topic)
        span = await admin.queue_span(queue)
        low = min(max(offset, span.min), span.max)
        return await search.newest(
            [QueueSpan(queue, low, min(span.max, low + count))], count
        )

    return ask(cluster, work)


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """One message, unpacked, and how it is stored.

    `stored_bytes` is the size of its body in the store. In a batch that is kept as one
    record (`batched`) that is the size of all bodies together.
    """

    message: MessageExt
    stored_bytes: int
    compression: str | None
    batched: bool


def read_message(
    cluster: ClusterSettings, queue: MessageQueue, offset: int
) -> ReadMessage | None:
    """Return one message; None when the queue does not have that offset."""

    async def work(admin: Admin) -> ReadMessage | None:
        span = await admin.queue_span(queue)
        pulled = await admin.messages_at(span, offset, 1)
        for stored in pulled.messages:
            parts = unpacked(stored)
            for each in parts:
                if each.queue_offset == offset:
                    return _as_stored(each, stored)
        return None

    return ask(cluster, work)


def newest_first(messages: Iterable[MessageExt]) -> list[MessageExt]:
    """Return messages by store time, the newest first."""

    def moment(message: MessageExt) -> tuple[int, int]:
        return message.store_timestamp, message.queue_offset

    return sorted(messages, key=moment, reverse=True)


def place(queue: MessageQueue) -> str:
    """Write where a queue is: `broker-a / 6`."""
    return f"{queue.broker_name} / {queue.queue_id}"


# Private, in order of first use


@dataclass(frozen=True, slots=True)
class _Search:
    """One search of a topic; it ends itself at `deadline`, by the monotonic clock."""

    admin: Admin
    route: TopicRoute
    tag: str
    accepts: Callable[[MessageExt], bool]
    deadline: float
    turns: asyncio.Semaphore

    @classmethod
    async def of(
        cls,
        admin: Admin,
        topic: str,
        tag: str = "",
        accepts: Callable[[MessageExt], bool] = lambda _message: True,
    ) -> _Search:
        route = await admin.topic_route(topic)
        deadline = time.monotonic() + WORK_SECONDS
        turns = asyncio.Semaphore(QUEUES_AT_ONCE)
        return cls(admin, route, tag, accepts, deadline, turns)

    @property
    def late(self) -> bool:
        return time.monotonic() > self.deadline

    async def newest(
        self,
        spans: Sequence[QueueSpan],
        most: int,
        failed: Mapping[str, str] | None = None,
    ) -> Found:
        """Return the newest messages of several spans, each queue with its share."""
        share = _shares(spans, most, unfiltered=not self.tag)
        parts = await asyncio.gather(
            *(self._newest_of(each, share[each.queue]) for each in spans),
            return_exceptions=True,
        )
        messages: list[MessageExt] = []
        cuts: list[Cut] = []
        errors = dict(failed or {})
        for span, part in zip(spans, parts, strict=True):
            if isinstance(part, RmqError):
                errors[place(span.queue)] = str(part)
            elif isinstance(part, BaseException):
                raise part
            else:
                messages += part[0]
                cuts += filter(None, [part[1]])
        return Found(newest_first(messages)[:most], cuts, errors)

    async def _newest_of(
        self, span: QueueSpan, share: int
    ) -> tuple[list[MessageExt], Cut | None]:
        """Read a queue backwards, in windows, until its share is full."""
        found: list[MessageExt] = []
        high = span.max
        window = FIRST_WINDOW if self.tag else max(share, 1)
        async with self.turns:
            while high > span.min and len(found) < share and not self.late:
                low = max(span.min, high - window)
                found = await self._window(span, low, high) + found
                high, window = low, min(window * 4, WIDEST_WINDOW)
        if self.late:
            return found[-share:], Cut("time", place(span.queue))
        left_out = high > span.min or len(found) > share
        cut = Cut("limit", place(span.queue)) if left_out else None
        return found[-share:] if share else [], cut

    async def _window(self, span: QueueSpan, low: int, high: int) -> list[MessageExt]:
        """Return what matches from one offset up to another, oldest first."""
        found: list[MessageExt] = []
        at = low
        while at < high and not self.late:
            pulled = await self.admin.messages_at(
                span, at, high - at, expression=self.tag or "*", route=self.route
            )
            found += (
                message
                for message in readable(pulled.messages)
                if at <= message.queue_offset < high and self.accepts(message)
            )
            if pulled.next_offset <= at:
                break
            at = pulled.next_offset
        return found


def _as_stored(message: MessageExt, stored: MessageExt) -> ReadMessage:
    packed = stored.sys_flag & COMPRESSED_FLAG
    return ReadMessage(
        message,
        len(stored.body),
        compression_kind(stored.sys_flag) if packed else None,
        batched=bool(stored.sys_flag & INNER_BATCH_FLAG),
    )


async def _spans(admin: Admin, topic: str, queue: MessageQueue | None) -> TopicSpans:
    if queue is not None:
        return TopicSpans((await admin.queue_span(queue),), {})
    found = await admin.queue_spans(topic)
    if not found.spans:
        why = "; ".join(found.failed.values()) or "it has none that may be read"
        raise RouteError(f"no queue of topic {topic!r} can be read: {why}")
    return found


def _shares(
    spans: Sequence[QueueSpan], most: int, *, unfiltered: bool = True
) -> dict[MessageQueue, int]:
    """Divide `most` messages among queues: what small ones leave goes to the others."""
    shares: dict[MessageQueue, int] = {}
    left, waiting = most, len(spans)
    for span in sorted(spans, key=lambda each: each.max - each.min):
        fair = -(-left // waiting)
        shares[span.queue] = min(span.max - span.min, fair) if unfiltered else fair
        left, waiting = max(0, left - shares[span.queue]), waiting - 1
    return shares


def readable(messages: Sequence[MessageExt]) -> list[MessageExt]:
    """Return messages with batches and compressed bodies unpacked, where that works."""
    found: list[MessageExt] = []
    for message in messages:
        try:
            found += unpacked(message)
        except BodyError:
            found.append(message)
    return found
