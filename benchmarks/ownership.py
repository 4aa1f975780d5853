"""Who owned which queue, when, from changes that the members themselves timed.

A queue is *owned twice* while two or more members hold it, and has a *gap* while none
does after its first owner took it. Pure functions over changes; times are nanoseconds
of one monotonic clock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from rmqcore.model import MessageQueue

MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Change:
    """A member took a queue, or gave it up."""

    nanos: int
    member: str
    queue: MessageQueue
    held: bool


@dataclass(frozen=True, slots=True)
class Spell:
    """A time during which a queue was owned by other than exactly one member."""

    queue: MessageQueue
    began: int
    ended: int

    @property
    def ms(self) -> float:
        """How long it lasted."""
        return (self.ended - self.began) / MS


@dataclass(slots=True)
class Ownership:
    """What became of all queues: spells of double ownership, gaps, moves."""

    doubles: list[Spell] = field(default_factory=list)
    gaps: list[Spell] = field(default_factory=list)
    moves: int = 0

    @classmethod
    def of(cls, changes: Iterable[Change], until: int) -> Ownership:
        """Judge changes; spells still open at the end are counted up to `until`."""
        seen = cls()
        by_queue: dict[MessageQueue, list[Change]] = defaultdict(list)
        for change in changes:
            by_queue[change.queue].append(change)
        for queue, of_queue in by_queue.items():
            seen._judge(queue, sorted(of_queue, key=lambda each: each.nanos), until)
        return seen

    def _judge(self, queue: MessageQueue, changes: list[Change], until: int) -> None:
        holders: set[str] = set()
        last_owner = changes[0].member
        since = 0
        for change in changes:
            before = len(holders)
            if change.held:
                holders.add(change.member)
                self.moves += change.member != last_owner
                last_owner = change.member
            else:
                holders.discard(change.member)
            if before != 1 and len(holders) == 1 and since:
                self._note(Spell(queue, since, change.nanos), before)
            if before == 1 and len(holders) != 1:
                since = change.nanos
            elif before != 1 and len(holders) == 1:
                since = 0
        if since:
            self._note(Spell(queue, since, until), len(holders))

    def _note(self, spell: Spell, count: int) -> None:
        (self.doubles if count > 1 else self.gaps).append(spell)


def is_exact(
    holders: Mapping[MessageQueue, Collection[str]],
    parts: Mapping[str, Iterable[MessageQueue]],
) -> bool:
    """Tell whether each queue has exactly the one owner that `parts` names."""
    owners = {queue: {who} for who, part in parts.items() for queue in part}
    return owners == {queue: set(who) for queue, who in holders.items() if who}


def longest_ms(spells: Iterable[Spell]) -> float:
    """Return how long the longest spell lasted, 0 when there was none."""
    return max((spell.ms for spell in spells), default=0.0)


def quantile_ms(spells: Iterable[Spell], share: float) -> float:
    """Return the length that `share` of the spells did not pass, 0 without any."""
    lengths = sorted(spell.ms for spell in spells)
    return lengths[min(int(len(lengths) * share), len(lengths) - 1)] if lengths else 0.0
