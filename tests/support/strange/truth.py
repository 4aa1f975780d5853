"""What is so in a cluster at one moment, whether anybody answers or not. Plain values.

A `Truth` prints as the expression that makes it, so that what a failing test prints can
be pasted into an `@example`. Nothing here knows the protocol, the collector or time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Final, Literal

QueueKey = tuple[str, str, int]
"""Topic, broker name, queue id."""

Shown = Literal["min", "max", "committed", "lag"]

AVERAGELY: Final = "AllocateMessageQueueAveragely"
CLUSTERING: Final = "CLUSTERING"
BROADCASTING: Final = "BROADCASTING"
PUSH: Final = "CONSUME_PASSIVELY"
PULL: Final = "CONSUME_ACTIVELY"
POP: Final = "CONSUME_POP"


class Printed:
    """A value that prints without what it has by default."""

    def __repr__(self) -> str:
        told = []
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            made = each.default_factory
            usual = each.default if made is MISSING else made()
            if value != usual:
                told.append(f"{each.name}={value!r}")
        return f"{type(self).__name__}({', '.join(told)})"

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """Print the same way where Hypothesis prints."""
        printer.text(repr(self))


@dataclass(frozen=True, repr=False)
class Topic(Printed):
    """A topic on one broker: the oldest and newest offset of each queue, by its id.

    `listed` is how many queues the broker's listing has, where its statistics have
    another number: queues were added or taken away between the two answers.
    """

    offsets: tuple[tuple[int, int], ...]
    listed: int | None = None

    @property
    def listed_queues(self) -> int:
        return len(self.offsets) if self.listed is None else self.listed


@dataclass(frozen=True, repr=False)
class Process(Printed):
    """One connected process; several may bear the same client id.

    `brokers` are those that list it, None for all. One that does not answer says
    nothing of what it holds, though it holds it. `shares` is for POP.
    """

    client_id: str
    reads: Mapping[str, str] = field(default_factory=dict)
    holds: tuple[QueueKey, ...] = ()
    strategy: str | None = AVERAGELY
    brokers: frozenset[str] | None = None
    answers: bool = True
    shares: bool = False


@dataclass(frozen=True, repr=False)
class Group(Printed):
    """A consumer group; `mode_at` has the brokers that know it in another mode."""

    name: str
    processes: tuple[Process, ...] = ()
    committed: Mapping[QueueKey, int] = field(default_factory=dict)
    mode: str = CLUSTERING
    mode_at: Mapping[str, str] = field(default_factory=dict)
    consume_type: str = PUSH


@dataclass(frozen=True, repr=False)
class Truth(Printed):
    """All brokers with their topics, and all groups, by name."""

    brokers: Mapping[str, Mapping[str, Topic]]
    groups: Mapping[str, Group] = field(default_factory=dict)

    def queues(self) -> Iterator[tuple[QueueKey, tuple[int, int]]]:
        """Yield each queue there is, with its oldest and newest offset."""
        for broker, topics in self.brokers.items():
            for name, topic in topics.items():
                for queue_id, offsets in enumerate(topic.offsets):
                    yield (name, broker, queue_id), offsets

    def offsets(self, key: QueueKey) -> tuple[int, int] | None:
        """Return a queue's oldest and newest offset; None where there is no such."""
        name, broker, queue_id = key
        topic = self.brokers.get(broker, {}).get(name)
        if topic is None or queue_id >= len(topic.offsets):
            return None
        return topic.offsets[queue_id]

    def value(self, group: str, key: QueueKey, name: Shown) -> int | None:
        """Return what a page that knows everything shows of a queue; None for none."""
        offsets = self.offsets(key)
        held = self.groups.get(group)
        committed = None if held is None else held.committed.get(key)
        if name == "committed":
            return committed
        if offsets is None:
            return None
        if name == "lag":
            return None if committed is None else max(0, offsets[1] - committed)
        return offsets[name == "max"]

    def rows(self, group: str, *, held: bool = True) -> set[QueueKey]:
        """Return the queues that belong to a group: read, held or committed ones.

        That a queue is held which is neither, only its members tell. The retry topic
        is counted apart.
        """
        found = self.groups.get(group)
        if found is None:
            return set()
        topics = {topic for process in found.processes for topic in process.reads}
        topics |= {key[0] for key in found.committed}
        if held:
            topics |= {key[0] for each in found.processes for key in each.holds}
        topics.discard(f"%RETRY%{group}")
        rows = {key for key, _offsets in self.queues() if key[0] in topics}
        return rows | {key for key in found.committed if key[1] in self.brokers}

    def with_topic(self, broker: str, name: str, topic: Topic | None) -> Truth:
        """Return the truth with another topic in that place, or none."""
        topics = {**self.brokers[broker], name: topic}
        kept = {at: each for at, each in topics.items() if each is not None}
        return replace(self, brokers={**self.brokers, broker: kept})

    def with_group(self, group: Group) -> Truth:
        """Return the truth with this group in place of the one of its name."""
        return replace(self, groups={**self.groups, group.name: group})


def divided(group: Group, truth: Truth) -> Group:
    """Return the group as it is after its members have divided what they read.

    Each reads its own topics and takes its share among all ids, as RocketMQ does: where
    members differ in what they read, queues stay without a reader. Processes that share
    an id hold the same queues; in broadcasting each holds all.
    """
    ids = sorted({process.client_id for process in group.processes})
    queues: dict[str, list[QueueKey]] = {}
    for key, _offsets in sorted(truth.queues()):
        queues.setdefault(key[0], []).append(key)
    alone = group.mode == BROADCASTING

    def share(process: Process) -> tuple[QueueKey, ...]:
        place, count = (0, 1) if alone else (ids.index(process.client_id), len(ids))
        mine: list[QueueKey] = []
        for topic in sorted(process.reads):
            size, odd = divmod(len(queues.get(topic, ())), count)
            first = place * size + min(place, odd)
            mine += queues.get(topic, ())[first : first + size + (place < odd)]
        return tuple(mine)

    members = tuple(replace(each, holds=share(each)) for each in group.processes)
    return replace(group, processes=members)
