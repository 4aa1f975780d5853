"""Reads the newest messages of queues that match, backwards and bounded.

Queues are read side by side, each up to its share of the messages wanted, and all of
them together for a few seconds. They are read in small windows from their ends, so that
a search that is cut short has the newest. Where something may have been left out is
said.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from rmqcore.admin import Admin
from rmqcore.admin.messages import MOST_PER_PULL, QueueSpan, TopicSpans, unpacked
from rmqcore.errors import BodyError, RmqError
from rmqcore.model import MessageExt, MessageQueue
from rmqcore.model.route import TopicRoute

QUEUES_AT_ONCE: Final = 16
"""Queues of one broker that are read at a time."""

WORK_SECONDS: Final = 5.0
"""After this time a search is content with what it has found."""

LONGEST_SECONDS: Final = 7.0
"""A search that had to wait for a mute broker first ends so long after it began."""

MOST_BYTES: Final = 64 * 1024 * 1024
"""Bodies, unpacked, that a search reads at most; then it is content, too."""

FIRST_WINDOW: Final = 8
"""As many as a broker of Apache gives at once of what is not in its memory."""

FIRST_FILTERED: Final = 64
WIDEST_WINDOW: Final = 65_536

CutKind = Literal["key", "limit", "time", "bytes"]


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a search may have left something out.

    `key`: a broker gave the most that it gives for one key. `limit`: a queue has more
    than its share of the search. `time`: a queue was not read through in time.
    `bytes`: a queue was not read through, because the messages are large.
    """

    kind: CutKind
    where: str


@dataclass(slots=True)
class Budget:
    """How many bytes of bodies may still be read; the last message may exceed it."""

    left: int

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0

    def take(self, messages: Iterable[MessageExt]) -> None:
        """Count the bodies of messages."""
        self.left -= sum(len(each.body) for each in messages)


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

    def holds(self, message: MessageExt) -> bool:
        """Tell whether a message was stored in the span, both ends included."""
        at = message.store_timestamp
        return (self.begin_ms is None or at >= self.begin_ms) and (
            self.end_ms is None or at <= self.end_ms
        )


async def bounded(
    found: TopicSpans, bound: Callable[[QueueSpan], Awaitable[QueueSpan]]
) -> TopicSpans:
    """Return the bounded parts of queues; one that does not answer is in `failed`."""
    parts = await asyncio.gather(*map(bound, found.spans), return_exceptions=True)
    spans: list[QueueSpan] = []
    failed = dict(found.failed)
    for whole, part in zip(found.spans, parts, strict=True):
        if isinstance(part, RmqError):
            failed[place(whole.queue)] = str(part)
        elif isinstance(part, BaseException):
            raise part
        else:
            spans.append(part)
    return TopicSpans(tuple(spans), failed)


async def within(
    admin: Admin, each: QueueSpan, span: Span, route: TopicRoute
) -> QueueSpan:
    """Return the part of a queue that a span of time has, with one more at its end."""
    low, high = each.min, each.max
    address = address_of(each.queue, route)
    if low < high and span.begin_ms is not None:
        low = max(low, await admin.search_offset(each.queue, span.begin_ms, address))
    if low < high and span.end_ms is not None:
        found = await admin.search_offset(each.queue, span.end_ms + 1, address)
        # Brokers before 5.0 return the last message where all are older.
        high = min(high, found + 1)
    return QueueSpan(each.queue, low, max(low, high))


def address_of(queue: MessageQueue, route: TopicRoute) -> str | None:
    """Return where a queue is read; with its master gone, that is a slave."""
    broker = route.broker(queue.broker_name)
    return None if broker is None else broker.any_address


def with_silent(
    route: TopicRoute, failed: Mapping[str, str], silent: Mapping[str, str]
) -> dict[str, str]:
    """Add to `failed` the silent brokers that the route does not name any more."""
    here = {broker.broker_name for broker in route.brokers}
    gone = {name: why for name, why in silent.items() if name not in here}
    return {**gone, **failed}


@dataclass(slots=True)
class QueueSearch:
    """One search of a topic.

    It ends itself `seconds` after `newest` was called, at `latest` by the monotonic
    clock, and with its budget. `shape` is what is kept of a message: whoever needs no
    bodies keeps none.
    """

    admin: Admin
    route: TopicRoute
    tag: str
    accepts: Callable[[MessageExt], bool]
    seconds: float
    latest: float
    shape: Callable[[MessageExt], MessageExt]
    budget: Budget = field(default_factory=lambda: Budget(MOST_BYTES))
    deadline: float = math.inf
    turns: defaultdict[str, asyncio.Semaphore] = field(
        default_factory=lambda: defaultdict(lambda: asyncio.Semaphore(QUEUES_AT_ONCE))
    )

    @classmethod
    async def of(
        cls,
        admin: Admin,
        topic: str,
        tag: str = "",
        accepts: Callable[[MessageExt], bool] = lambda _message: True,
        *,
        seconds: float = WORK_SECONDS,
        shape: Callable[[MessageExt], MessageExt] = lambda message: message,
    ) -> QueueSearch:
        latest = time.monotonic() + LONGEST_SECONDS
        route = await admin.topic_route(topic)
        return cls(admin, route, tag, accepts, seconds, latest, shape)

    @property
    def ended(self) -> CutKind | None:
        """Why no more is read, None while more may be."""
        if self.budget.spent:
            return "bytes"
        return "time" if time.monotonic() > self.deadline else None

    async def newest(
        self,
        spans: Sequence[QueueSpan],
        most: int,
        failed: Mapping[str, str] | None = None,
        *,
        forwards: bool = False,
    ) -> Found:
        """Return the newest messages of several spans, each queue with its share.

        With `forwards`, spans are read from their beginnings: a search that is cut
        short has their oldest messages then.
        """
        self.deadline = min(time.monotonic() + self.seconds, self.latest)
        share = shares(spans, most, unfiltered=not self.tag)
        parts = await asyncio.gather(
            *(
                self._newest_of(each, share[each.queue], forwards=forwards)
                for each in spans
            ),
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
        self, span: QueueSpan, share: int, *, forwards: bool
    ) -> tuple[list[MessageExt], Cut | None]:
        """Read a queue backwards, in windows, until its share is full.

        Of a window that was not finished, the newest are missing: what it gave is left
        out, unless there is nothing newer.
        """
        found: list[MessageExt] = []
        high = span.max
        widest = WIDEST_WINDOW if self.tag else MOST_PER_PULL
        window = FIRST_FILTERED if self.tag else FIRST_WINDOW
        if forwards:
            window = max(span.max - span.min, 1)
        async with self.turns[span.queue.broker_name]:
            while high > span.min and len(found) < share and not self.ended:
                low = max(span.min, high - window)
                part, finished = await self._window(span, low, high)
                if finished or not found:
                    found = part + found
                high, window = low, min(window * 4, widest)
        if span.max > span.min and (why := self.ended):
            return found[-share:], Cut(why, place(span.queue))
        left_out = high > span.min or len(found) > share
        cut = Cut("limit", place(span.queue)) if left_out else None
        return found[-share:] if share else [], cut

    async def _window(
        self, span: QueueSpan, low: int, high: int
    ) -> tuple[list[MessageExt], bool]:
        """Return what matches from one offset up to another, oldest first.

        Also tell whether all of it was read before the search ended.
        """
        found: list[MessageExt] = []
        at = low
        while at < high and not self.ended:
            pulled = await self.admin.messages_at(
                span, at, high - at, expression=self.tag or "*", route=self.route
            )
            found += (
                self.shape(message)
                for message in readable(pulled.messages, self.budget)
                if at <= message.queue_offset < high and self.accepts(message)
            )
            if pulled.next_offset <= at:
                break
            at = pulled.next_offset
        return found, at >= high or not self.ended


def newest_first(messages: Iterable[MessageExt]) -> list[MessageExt]:
    """Return messages by store time, the newest first."""

    def moment(message: MessageExt) -> tuple[int, int]:
        return message.store_timestamp, message.queue_offset

    return sorted(messages, key=moment, reverse=True)


def place(queue: MessageQueue) -> str:
    """Write where a queue is: `broker-a / 6`."""
    return f"{queue.broker_name} / {queue.queue_id}"


def shares(
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


def readable(
    messages: Sequence[MessageExt], budget: Budget | None = None
) -> list[MessageExt]:
    """Return messages with batches and compressed bodies unpacked, where that works.

    When the budget is spent, the others stay as they are stored.
    """
    budget = budget or Budget(MOST_BYTES)
    found: list[MessageExt] = []
    for message in messages:
        parts = [message] if budget.spent else _unpacked(message)
        budget.take(parts)
        found += parts
    return found


def _unpacked(message: MessageExt) -> Sequence[MessageExt]:
    try:
        return unpacked(message)
    except BodyError:
        return [message]
