"""The results of a lab: typed, frozen, and of one shape for all labs.

`Evidence` is what happened, in the order it happened. A `Claim` is a sentence about
RocketMQ, and whether this run bears it out. A lab with more to report has a result
class of its own, derived from `LabResult`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from rmqcore.model import MessageQueue


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message given to a member's listener; `attempt` counts from 0."""

    member: str
    client_id: str
    queue: MessageQueue
    offset: int
    body: str
    keys: tuple[str, ...]
    tag: str
    attempt: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class Part:
    """The queues of one topic that one member holds."""

    member: str
    client_id: str
    queues: tuple[MessageQueue, ...]

    @property
    def queue_ids(self) -> list[int]:
        """The ids alone: labs keep a topic on one broker."""
        return [queue.queue_id for queue in self.queues]


@dataclass(frozen=True, slots=True)
class Division:
    """Who holds which queues of a topic, and what had just been done (`after`)."""

    topic: str
    after: str
    parts: tuple[Part, ...]
    queues: tuple[MessageQueue, ...]

    @property
    def idle(self) -> list[str]:
        """The members that hold nothing."""
        return [part.member for part in self.parts if not part.queues]

    @property
    def unowned(self) -> list[MessageQueue]:
        """The queues that nobody holds."""
        return [queue for queue in self.queues if not self._owners(queue)]

    @property
    def shared(self) -> list[MessageQueue]:
        """The queues that more than one member holds."""
        return [queue for queue in self.queues if self._owners(queue) > 1]

    @property
    def by_member(self) -> dict[str, list[int]]:
        """Queue ids by member."""
        return {part.member: part.queue_ids for part in self.parts}

    def __str__(self) -> str:
        return "; ".join(
            f"{part.member} {_spans(part.queue_ids) or 'nothing'}"
            for part in self.parts
        )

    def _owners(self, queue: MessageQueue) -> int:
        return sum(queue in part.queues for part in self.parts)


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """A group's committed offset of a queue, None without one, and the queue's end."""

    queue: MessageQueue
    committed: int | None
    end: int


@dataclass(frozen=True, slots=True)
class Progress:
    """A group's offsets at the broker, and what had just been done (`after`)."""

    group: str
    topic: str
    after: str
    queues: tuple[QueueProgress, ...]

    @property
    def committed(self) -> int:
        """The sum of all committed offsets: messages finished, for a young topic."""
        return sum(queue.committed or 0 for queue in self.queues)

    @property
    def end(self) -> int:
        """The sum of all ends: the messages sent, for a young topic."""
        return sum(queue.end for queue in self.queues)


@dataclass(frozen=True, slots=True)
class OffsetsFile:
    """What a broadcasting member's file held, and what had just been done."""

    client_id: str
    group: str
    after: str
    found_in: str
    offsets: Mapping[MessageQueue, int]

    @property
    def total(self) -> int:
        """The sum of all offsets."""
        return sum(self.offsets.values())


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that a lab is about; `seen` says whether this run bore it out."""

    key: str
    seen: bool
    text: str
    params: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What happened in a lab, each kind in the order it happened."""

    lab: str
    produced: int
    took_ms: int
    deliveries: tuple[Delivery, ...]
    divisions: tuple[Division, ...]
    progress: tuple[Progress, ...]
    files: tuple[OffsetsFile, ...]
    claims: tuple[Claim, ...]

    def consumed_by(self, member: str) -> list[str]:
        """The bodies given to a member, in order."""
        return [each.body for each in self.deliveries if each.member == member]

    @property
    def times_consumed(self) -> Counter[str]:
        """How often each body was given to a listener."""
        return Counter(each.body for each in self.deliveries)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabResult:
    """A lab's outcome; `finding` is the warning that a page shows for such a group."""

    evidence: Evidence
    finding: str | None = None

    @property
    def seen(self) -> bool:
        """Whether everything that the lab is about was seen."""
        return all(claim.seen for claim in self.evidence.claims)

    def claim(self, key: str) -> Claim:
        """Return the claim of that key, without the lab's name before it."""
        wanted = f"{self.evidence.lab}.{key}"
        return next(each for each in self.evidence.claims if each.key == wanted)


def document(value: object) -> Any:
    """Return a result, or a part of one, as values that JSON can hold."""
    match value:
        case LabResult():
            return {"seen": value.seen, **_members(value)}
        case MessageQueue():
            return [value.topic, value.broker_name, value.queue_id]
        case Mapping() if any(isinstance(key, MessageQueue) for key in value):
            return [[*document(key), offset] for key, offset in value.items()]
        case Mapping():
            return {str(key): document(item) for key, item in value.items()}
        case list() | tuple():
            return [document(item) for item in value]
    return _members(value) if is_dataclass(value) else value


def _members(value: Any) -> dict[str, Any]:
    return {each.name: document(getattr(value, each.name)) for each in fields(value)}


def _spans(numbers: list[int]) -> str:
    """Write ascending numbers as `0-5, 7`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{a}-{b}" if a != b else str(a) for a, b in spans)
