"""What happens in a cluster between two looks at it: each turns one truth into another.

Members are named by their place (modulo how many there are), all else by its name; an
event that finds nothing to happen to leaves the truth as it is. So an event means
something in every truth, and a failing history shrinks freely.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from .truth import Group, Process, QueueKey, Topic, Truth, divided


class Event(Protocol):
    """Something that happens."""

    def apply(self, truth: Truth) -> Truth:
        """Return what is so afterwards."""


@dataclass(frozen=True)
class Produced:
    """Every queue gets so many messages more."""

    count: int

    def apply(self, truth: Truth) -> Truth:
        for broker, topics in truth.brokers.items():
            for name, topic in topics.items():
                more = tuple((low, high + self.count) for low, high in topic.offsets)
                truth = truth.with_topic(broker, name, replace(topic, offsets=more))
        return truth


@dataclass(frozen=True)
class _OfGroup:
    """Something that happens in a group, if it is there."""

    group: str

    def apply(self, truth: Truth) -> Truth:
        group = truth.groups.get(self.group)
        return truth if group is None else truth.with_group(self.turned(group, truth))

    def turned(self, group: Group, truth: Truth) -> Group:
        """Return the group as it is afterwards."""
        raise NotImplementedError


@dataclass(frozen=True)
class Consumed(_OfGroup):
    """A group commits so many more on each queue that a member holds."""

    count: int

    def turned(self, group: Group, truth: Truth) -> Group:
        committed = dict(group.committed)
        for key in (key for each in group.processes for key in each.holds):
            low, high = truth.offsets(key) or (0, 0)
            committed[key] = min(high, committed.get(key, low) + self.count)
        return replace(group, committed=committed)


@dataclass(frozen=True)
class Committed(_OfGroup):
    """A group commits any offset on any queue, there or not, high or low."""

    key: QueueKey
    offset: int

    def turned(self, group: Group, truth: Truth) -> Group:
        return replace(group, committed={**group.committed, self.key: self.offset})


@dataclass(frozen=True)
class Divided(_OfGroup):
    """The members of a group divide their queues anew."""

    def turned(self, group: Group, truth: Truth) -> Group:
        return divided(group, truth)


@dataclass(frozen=True)
class Joined(_OfGroup):
    """A process joins a group; it holds what it says it holds."""

    process: Process

    def turned(self, group: Group, truth: Truth) -> Group:
        return replace(group, processes=(*group.processes, self.process))


@dataclass(frozen=True)
class Left(_OfGroup):
    """A process leaves its group; what it held is nobody's until the next division."""

    place: int

    def turned(self, group: Group, truth: Truth) -> Group:
        members = list(group.processes)
        if members:
            del members[self.place % len(members)]
        return replace(group, processes=tuple(members))


@dataclass(frozen=True)
class Fell(_OfGroup):
    """A process falls silent, or speaks again: it lives, and does not answer."""

    place: int

    def turned(self, group: Group, truth: Truth) -> Group:
        members = list(group.processes)
        if members:
            at = self.place % len(members)
            members[at] = replace(members[at], answers=not members[at].answers)
        return replace(group, processes=tuple(members))


@dataclass(frozen=True)
class Resized:
    """A topic has another number of queues on one broker; none: it is deleted there.

    New queues are empty. Queues that are taken away keep what was committed for them.
    """

    broker: str
    name: str
    queues: int
    listed: int | None = None

    def apply(self, truth: Truth) -> Truth:
        if self.broker not in truth.brokers:
            return truth
        if not self.queues:
            return truth.with_topic(self.broker, self.name, None)
        before = truth.brokers[self.broker].get(self.name, Topic(()))
        kept = before.offsets[: self.queues]
        new = ((0, 0),) * (self.queues - len(kept))
        return truth.with_topic(self.broker, self.name, Topic(kept + new, self.listed))


@dataclass(frozen=True)
class WentBack:
    """A broker has lost messages: its offsets are those of a while ago."""

    broker: str
    by: int

    def apply(self, truth: Truth) -> Truth:
        if self.broker not in truth.brokers:
            return truth
        for name, topic in truth.brokers[self.broker].items():
            back = tuple((low, max(low, high - self.by)) for low, high in topic.offsets)
            truth = truth.with_topic(self.broker, name, replace(topic, offsets=back))
        return truth


@dataclass(frozen=True)
class Appeared:
    """A group is there (or is another one altogether than it was)."""

    group: Group

    def apply(self, truth: Truth) -> Truth:
        return truth.with_group(self.group)


@dataclass(frozen=True)
class Vanished:
    """A group is deleted with all it committed."""

    group: str

    def apply(self, truth: Truth) -> Truth:
        kept = {name: g for name, g in truth.groups.items() if name != self.group}
        return replace(truth, groups=kept)
