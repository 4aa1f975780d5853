"""Messages of a cluster, found on request by id, key, time or place in a queue.

No search commits, joins or creates anything (`rmqcore.admin.messages`). Every search is
bounded, and says where it may have left something out. All functions are for callers
without an event loop and raise RmqError when the cluster refuses or is silent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rmqcore.admin import Admin
from rmqcore.admin.messages import INNER_BATCH_FLAG, QueueSpan, TopicSpans, unpacked
from rmqcore.errors import RouteError
from rmqcore.model import MessageExt, MessageQueue
from rmqcore.protocol.compression import COMPRESSED_FLAG, compression_kind

from .asking import ask
from .queue_search import (
    Cut,
    Found,
    QueueSearch,
    Span,
    bounded,
    place,
    readable,
    shares,
    within,
)
from .settings import ClusterSettings

MOST_FOUND: Final = 500
"""The most messages that one search returns, over all queues."""


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

    async def work(admin: Admin) -> Found:
        search = await QueueSearch.of(admin, topic, tag, span.holds)
        queues = await bounded(
            await _spans(admin, topic, None),
            lambda each: within(admin, each, span, search.route),
        )
        return await search.newest(queues.spans, MOST_FOUND, queues.failed)

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
        search = await QueueSearch.of(admin, topic)
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
        search = await QueueSearch.of(admin, topic)
        queues = await _spans(admin, topic, queue)
        share = shares(queues.spans, most)
        first = [
            QueueSpan(each.queue, each.min, min(each.max, each.min + share[each.queue]))
            for each in queues.spans
        ]
        found = await search.newest(first, most, queues.failed, forwards=True)
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
        search = await QueueSearch.of(admin, queue.topic)
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


# Private, in order of first use


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
