"""The newest messages of a topic, asked for step by step.

Nothing is remembered between two steps: the caller keeps the offsets up to which it has
seen each queue, and gives them back. When more has come than one step may return, the
older part is skipped and counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rmqcore.admin import Admin
from rmqcore.admin.messages import QueueSpan
from rmqcore.errors import RmqError
from rmqcore.model import MessageExt, MessageQueue
from rmqcore.model.route import TopicRoute

from .asking import ask
from .messages import newest_first, readable
from .settings import ClusterSettings

MOST_PER_STEP: Final = 500
"""Messages that one step returns at most; the rows that a page holds."""

SECONDS: Final = 5.0

Offsets = Mapping[MessageQueue, int]


@dataclass(frozen=True, slots=True)
class TailStep:
    """Messages since the last step, newest first, and where the next one continues.

    `skipped` counts messages that were left out because too many had come.
    """

    messages: Sequence[MessageExt]
    offsets: Offsets
    skipped: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)


def tail(
    cluster: ClusterSettings, topic: str, offsets: Offsets, *, tag: str = ""
) -> TailStep:
    """Return what has come since `offsets`; queues not named there begin now."""

    async def work(admin: Admin) -> TailStep:
        queues = await admin.queue_spans(topic)
        route = await admin.topic_route(topic)
        share = max(1, MOST_PER_STEP // max(1, len(queues.spans)))
        step = _Step(admin, route, tag, share)
        parts = await asyncio.gather(
            *(step.of(span, offsets.get(span.queue)) for span in queues.spans),
            return_exceptions=True,
        )
        return _joined(queues.spans, parts, offsets, queues.failed)

    return ask(cluster, work, seconds=SECONDS)


@dataclass(frozen=True, slots=True)
class _Part:
    messages: Sequence[MessageExt]
    next_offset: int
    skipped: int


@dataclass(frozen=True, slots=True)
class _Step:
    """One step over the queues of a topic, each with the same share."""

    admin: Admin
    route: TopicRoute
    tag: str
    share: int

    async def of(self, span: QueueSpan, seen: int | None) -> _Part:
        """Read a queue from where it was seen up to its end, its newest at most."""
        if seen is None or seen > span.max:
            return _Part([], span.max, 0)
        first = at = max(seen, span.max - self.share)
        found: list[MessageExt] = []
        while at < span.max:
            pulled = await self.admin.messages_at(
                span, at, span.max - at, expression=self.tag or "*", route=self.route
            )
            found += readable(pulled.messages)
            if pulled.next_offset <= at:
                break
            at = pulled.next_offset
        return _Part(found, max(at, span.max), first - seen)


def _joined(
    spans: Sequence[QueueSpan],
    parts: Sequence[_Part | BaseException],
    before: Offsets,
    failed: Mapping[str, str],
) -> TailStep:
    """Put the queues together; one that failed is tried again from where it was."""
    messages: list[MessageExt] = []
    offsets, errors, skipped = dict(before), dict(failed), 0
    for span, part in zip(spans, parts, strict=True):
        if isinstance(part, RmqError):
            errors[span.queue.broker_name] = str(part)
        elif isinstance(part, BaseException):
            raise part
        else:
            messages += part.messages
            offsets[span.queue] = part.next_offset
            skipped += part.skipped
    return TailStep(newest_first(messages), offsets, skipped, errors)
