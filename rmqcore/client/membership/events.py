"""Events that a group member reports to its observer as they happen.

The observer is a plain callable, called on the member's event loop; it must not block
and must not raise. Times are milliseconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from rmqcore.model import MessageQueue


@dataclass(frozen=True, slots=True)
class MemberEvent:
    """The base of all events: whose they are, and when they happened."""

    group: str
    client_id: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class AllocationChanged(MemberEvent):
    """The queues of `topic` that this member holds from now on, sorted."""

    topic: str
    queues: tuple[MessageQueue, ...]


@dataclass(frozen=True, slots=True)
class OffsetCommitted(MemberEvent):
    """An offset went to the store; it is that of the next message to consume."""

    queue: MessageQueue
    offset: int


@dataclass(frozen=True, slots=True)
class LockGained(MemberEvent):
    """A broker gave this member the lock of a queue."""

    queue: MessageQueue


@dataclass(frozen=True, slots=True)
class LockLost(MemberEvent):
    """A broker refused to renew the lock of a queue, which is no longer consumed."""

    queue: MessageQueue


@dataclass(frozen=True, slots=True)
class PullDelayed(MemberEvent):
    """Flow control set in: the queue's next pull waits (C6). Sent once per delay."""

    queue: MessageQueue
    reason: str


Event: TypeAlias = (
    AllocationChanged | OffsetCommitted | LockGained | LockLost | PullDelayed
)
EventCallback: TypeAlias = Callable[[Event], None]
