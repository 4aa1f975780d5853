"""The process queue: messages of one owned queue, pulled and not yet done with.

It owns the cached messages by offset, those that an orderly listener has taken, and
what the rest of the client must know about the queue: dropped, locked, when last pulled
and consumed. It does not know brokers, listeners, tasks or clocks: times come in as
milliseconds, and the caller decides what to do with the offsets it returns.

Invariants. The offset to commit is the smallest one still cached, or the largest ever
seen plus one when nothing is (behaviour C5): a message that is stuck holds it back.
Taken messages count as cached for the limits, not for that offset. An offset is held
once however often it is put.

Cost. Offsets arrive ascending, so a double-ended queue beside the dictionary keeps the
order: putting and removing are O(1) per message, the smallest offset amortised O(1)
(entries of removed messages are dropped when they reach an end). Only an offset put
below the largest held one, as by an orderly retry, causes a sort.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Final

from rmqcore.model import MessageExt, MessageQueue

LOCK_TRUSTED_MS: Final = 30_000
"""A client trusts its lock this long after it was last confirmed (C8)."""

PULL_IDLE_MS: Final = 120_000
"""A queue not pulled for this long is dropped and made anew at a rebalance."""

STUCK_SCAN_LIMIT: Final = 16
"""At most this many stuck messages are given up per queue and scan."""


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """When the next pull of a queue must wait (C6); `max_span` None: no limit."""

    max_messages: int = 1000
    max_bytes: int = 100 * 1024 * 1024
    max_span: int | None = 2000


class ProcessQueue:
    """Messages of one owned queue. Belongs to one thread; never reused once dropped."""

    __slots__ = (
        "_ascending",
        "_at_work",
        "_bytes",
        "_cached",
        "_largest_seen",
        "_taken",
        "_when_idle",
        "consuming",
        "created_at_ms",
        "dropped",
        "ending",
        "last_consume_ms",
        "last_lock_ms",
        "last_pull_ms",
        "locked",
        "queue",
        "try_unlock_times",
    )

    def __init__(self, queue: MessageQueue, now_ms: int) -> None:
        self.queue = queue
        self.created_at_ms = now_ms
        self.last_pull_ms = now_ms
        self.last_consume_ms = now_ms
        self.last_lock_ms = now_ms
        self.locked = False
        self.ending = False
        """True once the queue is given up: no further message of it is begun."""
        self.dropped = False
        """True once the results of its listeners no longer count."""
        self.consuming = False
        """True while an orderly task has, or is about to take, messages of it."""
        self.try_unlock_times = 0
        self._cached: dict[int, MessageExt] = {}
        self._taken: dict[int, MessageExt] = {}
        self._ascending: deque[int] = deque()
        self._at_work: dict[int, tuple[Sequence[MessageExt], int]] = {}
        self._when_idle: list[Callable[[], None]] = []
        self._largest_seen = -1
        self._bytes = 0

    # What is held

    @property
    def message_count(self) -> int:
        """How many messages are held, taken ones included."""
        return len(self._cached) + len(self._taken)

    @property
    def size_bytes(self) -> int:
        """Bytes of the bodies held, taken ones included."""
        return self._bytes

    @property
    def first_offset(self) -> int | None:
        """The smallest cached offset, without taken messages."""
        ascending, cached = self._ascending, self._cached
        while ascending and ascending[0] not in cached:
            ascending.popleft()
        return ascending[0] if ascending else None

    @property
    def last_offset(self) -> int | None:
        """The largest cached offset, without taken messages."""
        ascending, cached = self._ascending, self._cached
        while ascending and ascending[-1] not in cached:
            ascending.pop()
        return ascending[-1] if ascending else None

    @property
    def max_span(self) -> int:
        """The distance between the largest and the smallest cached offset."""
        first, last = self.first_offset, self.last_offset
        return 0 if first is None or last is None else last - first

    @property
    def taken_offsets(self) -> tuple[int, int] | None:
        """The smallest and the largest offset taken by an orderly listener."""
        return (min(self._taken), max(self._taken)) if self._taken else None

    @property
    def cached_count(self) -> int:
        """How many messages are cached, without taken ones."""
        return len(self._cached)

    @property
    def taken_count(self) -> int:
        """How many messages an orderly listener has taken and not finished."""
        return len(self._taken)

    def commit_offset(self) -> int | None:
        """Return the offset to commit (C5), or None while nothing was ever put."""
        first = self.first_offset
        if first is not None:
            return first
        return self._largest_seen + 1 if self._largest_seen >= 0 else None

    def over_limit(self, limits: QueueLimits) -> str | None:
        """Return which limit holds the next pull back, or None."""
        if self.message_count > limits.max_messages:
            return f"{self.message_count} messages cached, limit {limits.max_messages}"
        if self._bytes > limits.max_bytes:
            return f"{self._bytes} bytes cached, limit {limits.max_bytes}"
        if limits.max_span is not None and self.max_span > limits.max_span:
            return f"span of {self.max_span} offsets, limit {limits.max_span}"
        return None

    # Concurrent and orderly

    def put_messages(self, messages: Iterable[MessageExt]) -> bool:
        """Add pulled messages; true when an orderly task must be started for them.

        A true answer also marks the queue as `consuming`, so that one task is started.
        """
        self._insert(messages)
        if self._cached and not self.consuming:
            self.consuming = True
            return True
        return False

    # Listeners at work

    def begin_work(self, messages: Sequence[MessageExt], now_ms: int) -> None:
        """Note that a listener begins with these messages."""
        self._at_work[messages[0].queue_offset] = (messages, now_ms)

    def end_work(self, messages: Sequence[MessageExt]) -> None:
        """Note that a listener has ended."""
        del self._at_work[messages[0].queue_offset]
        if self._when_idle and not self._at_work:
            for call in self._when_idle:
                call()
            self._when_idle.clear()

    def when_idle(self, call: Callable[[], None]) -> None:
        """Make the call once no listener is at work: now, or when the last one ends."""
        if self._at_work:
            self._when_idle.append(call)
        else:
            call()

    # Concurrent

    def remove(self, messages: Iterable[MessageExt], now_ms: int) -> int | None:
        """Forget messages that are done with; return the offset to commit.

        Return None when nothing was cached before, as nothing can have been finished
        then.
        """
        self.last_consume_ms = now_ms
        cached = self._cached
        if not cached:
            return None
        for message in messages:
            gone = cached.pop(message.queue_offset, None)
            if gone is not None:
                self._bytes -= len(gone.body)
        return self.commit_offset()

    def stuck(self, now_ms: int, limit_ms: int) -> list[MessageExt]:
        """Return messages at the low end that have been in work for over `limit_ms`.

        Looks at 16 messages at most and stops at the first that is not stuck: only the
        low end holds the commit back.
        """
        stuck = {
            message.queue_offset
            for messages, began_ms in self._at_work.values()
            if now_ms - began_ms > limit_ms
            for message in messages
        }
        held = (offset for offset in self._ascending if offset in self._cached)
        low_end = takewhile(stuck.__contains__, islice(held, STUCK_SCAN_LIMIT))
        return [self._cached[offset] for offset in low_end]

    # Orderly

    def take_messages(self, count: int, now_ms: int) -> list[MessageExt]:
        """Take the `count` lowest messages; an empty result ends the task."""
        self.last_consume_ms = now_ms
        taken: list[MessageExt] = []
        while len(taken) < count and (offset := self.first_offset) is not None:
            message = self._cached.pop(offset)
            self._taken[offset] = message
            taken.append(message)
        if not taken:
            self.consuming = False
        return taken

    def commit(self) -> int | None:
        """Finish the taken messages; return the offset after the last, None if none."""
        if not self._taken:
            return None
        last = max(self._taken)
        self._bytes -= sum(len(message.body) for message in self._taken.values())
        self._taken.clear()
        return last + 1

    def make_consumable_again(self, messages: Sequence[MessageExt]) -> None:
        """Put some of the taken messages back as given; their counts may differ."""
        for message in messages:
            taken = self._taken.pop(message.queue_offset, None)
            if taken is not None:
                self._bytes -= len(taken.body)
        self._insert(messages)

    def clear(self) -> None:
        """Forget every message; the largest offset seen stays."""
        self._cached.clear()
        self._taken.clear()
        self._ascending.clear()
        self._bytes = 0

    # Locks and age

    def confirm_lock(self, now_ms: int) -> None:
        """Note that the broker granted or renewed our lock."""
        self.locked = True
        self.last_lock_ms = now_ms

    def holds_lock(self, now_ms: int) -> bool:
        """Tell whether the broker's lock is ours and was confirmed recently (C8)."""
        return self.locked and now_ms - self.last_lock_ms <= LOCK_TRUSTED_MS

    def pull_expired(self, now_ms: int) -> bool:
        """Tell whether pulling has stopped for so long that something is broken."""
        return now_ms - self.last_pull_ms > PULL_IDLE_MS

    def _insert(self, messages: Iterable[MessageExt]) -> None:
        cached, taken, ascending = self._cached, self._taken, self._ascending
        out_of_order = False
        for message in messages:
            offset = message.queue_offset
            if offset in taken:
                continue
            known = cached.get(offset)
            cached[offset] = message
            self._bytes += len(message.body) - (0 if known is None else len(known.body))
            if not ascending or offset > ascending[-1]:
                ascending.append(offset)
            elif offset != ascending[-1]:
                out_of_order = out_of_order or known is None
            self._largest_seen = max(self._largest_seen, offset)
        if out_of_order:
            self._ascending = deque(sorted(cached))
