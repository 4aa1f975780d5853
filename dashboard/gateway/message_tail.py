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
from .queue_search import Budget, newest_first, readable, shares
from .settings import ClusterSettings

MOST_PER_STEP: Final = 200
"""Messages that one step returns at most: more a second than anybody reads."""

MOST_FILTERED: Final = 10_000
"""Messages among which a broker looks for a tag in one step at most."""

MOST_ROWS: Final = 500
"""The rows that a page holds."""

MOST_BYTES: Final = 16 * 1024 * 1024
"""Bodies, unpacked, that one step reads at most, as their sizes are shown."""

SECONDS: Final = 5.0

Offsets = Mapping[MessageQueue, int]


@dataclass(frozen=True, slots=True)
class TailStep:
    """Messages since the last step, newest first, and where the next one continues.

    `skipped` counts messages that were left out because too many had come, or too large
    ones.
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
        new = [_new(span, offsets) for span in queues.spans]
        share = shares(new, MOST_FILTERED if tag else MOST_PER_STEP)
        step = _Step(admin, route, tag, Budget(MOST_BYTES))
        parts = await asyncio.gather(
            *(step.of(each, share[each.queue]) for each in new),
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
    """One step over the queues of a topic."""

    admin: Admin
    route: TopicRoute
    tag: str
    budget: Budget

    async def of(self, new: QueueSpan, share: int) -> _Part:
        """Read what is new in a queue up to its end, the newest `share` at most."""
        first = at = new.max - share
        found: list[MessageExt] = []
        while at < new.max and not self.budget.spent:
            pulled = await self.admin.messages_at(
                new, at, new.max - at, expression=self.tag or "*", route=self.route
            )
            found += readable(pulled.messages, self.budget)
            if pulled.next_offset <= at:
                break
            at = pulled.next_offset
        left = max(0, new.max - at)
        return _Part(found, max(at, new.max), first - new.min + left)


def _new(span: QueueSpan, offsets: Offsets) -> QueueSpan:
    """Return the part of a queue that has not been seen; none where it begins now."""
    seen = offsets.get(span.queue, span.max)
    if seen > span.max:
        return QueueSpan(span.queue, span.max, span.max)
    return QueueSpan(span.queue, max(seen, span.min), span.max)


def _joined(
    spans: Sequence[QueueSpan],
    parts: Sequence[_Part | BaseException],
    before: Offsets,
    failed: Mapping[str, str],
) -> TailStep:
    """Merge the queues; one that failed is tried again from where it was."""
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
    shown = newest_first(messages)[:MOST_PER_STEP]
    return TailStep(shown, offsets, skipped + len(messages) - len(shown), errors)
