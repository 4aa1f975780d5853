"""What the last snapshot of everything was made of, and what follows for the next.

A group follows from whom brokers list as its members, from what it has committed, and
from its topics. Of thousands of groups few move between two sweeps; answers that are
the same are the same objects (see `answered` and `tables`), so a few comparisons tell
which groups are, too, without looking at any of them.

This holds while brokers alone tell who the members are (`is_steady`), and topics
neither come nor go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rmqcore.model.snapshot import ClusterSnapshot, TopicSnapshot

from .joined_members import JoinedMembers
from .memory import Listed, heard
from .sweep import BrokerAnswers
from .tables import GroupOffsets

Topics = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Told:
    """What one broker told of all groups."""

    broker: str
    members: Mapping[str, Listed]
    committed: GroupOffsets


@dataclass(slots=True)
class LastSweep:
    """The last snapshot of everything, as far as the next one can use it."""

    joined: JoinedMembers = field(default_factory=JoinedMembers)
    _snapshot: ClusterSnapshot | None = None
    _told: tuple[_Told, ...] = ()
    _topics: Mapping[str, Topics] = field(default_factory=dict)

    def same_groups(
        self,
        previous: ClusterSnapshot | None,
        answers: Sequence[BrokerAnswers],
        topics: Mapping[str, TopicSnapshot],
    ) -> dict[str, Topics]:
        """Return the groups of the previous snapshot that these answers leave as is.

        With the topics of each that exist, its retry topic among them. None are
        returned if the previous snapshot is not the one that was noted last. The
        brokers have to be steady.
        """
        before = self._snapshot
        told = tuple(map(_told_by, answers))
        if (
            before is None
            or before is not previous
            or [each.broker for each in told] != [each.broker for each in self._told]
            or topics.keys() != before.topics.keys()
        ):
            return {}
        changed = set[str]()
        for old, new in zip(self._told, told, strict=True):
            changed.update(_differing(old.members, new.members))
            changed.update(_differing(old.committed, new.committed))
            changed.update(
                name for name, each in new.members.items() if not heard(each)
            )
        moved = {
            name for name, each in topics.items() if each is not before.topics[name]
        }
        return {
            name: of_group
            for name, of_group in self._topics.items()
            if name not in changed and moved.isdisjoint(of_group)
        }

    def note(
        self,
        snapshot: ClusterSnapshot,
        answers: Sequence[BrokerAnswers],
        topics: Mapping[str, Topics],
    ) -> None:
        """Take a snapshot of everything, made of steady brokers' answers.

        `topics` are those of each group that exist, its retry topic among them.
        """
        self._snapshot, self._topics = snapshot, topics
        self._told = tuple(map(_told_by, answers))

    def forget(self) -> None:
        """Take note that the last snapshot of everything leaves nothing to the next."""
        self._snapshot, self._topics, self._told = None, {}, ()


def _told_by(answer: BrokerAnswers) -> _Told:
    return _Told(answer.name, answer.members, answer.committed)


def _differing(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[str]:
    """Yield the names that are in one of both, or lead to another object."""
    if old is new:
        return
    yield from (name for name, each in new.items() if old.get(name) is not each)
    yield from old.keys() - new.keys()
