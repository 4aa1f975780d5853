"""One group's memory: takes each look at it, returns the evidence for the rules.

Looks come in order of time. Facts that only members can report (307) are taken from
looks that asked them, and stand for later looks while they are fresh.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import GroupKind, GroupSnapshot, MemberSnapshot
from rmqcore.model.topic import RETRY_PREFIX

from .evidence import Evidence, Flow, OwnerRow, unheard_rows
from .memory.files import FileWatch
from .memory.growth import Growth, GrowthMeter
from .memory.kinds import (
    IDLE,
    LISTED_TWICE,
    OLDEST_IN_HAND,
    PULLED_LAST,
    UNLOCKED,
)
from .memory.since import Since
from .memory.trail import Moment, TrailKeeper
from .memory.turnover import Turnover


@dataclass(frozen=True, slots=True)
class Sighting:
    """One look at a group.

    `asked` when its members were asked for it, `told` when their reports stand.
    `dead_letters` counts all that ever came to that topic, None when a broker did not
    tell. `silent` are brokers that did not answer everything asked about the group,
    besides those that leave rows unknown. `flow` are the rates that are shown with this
    look.
    """

    at_ms: int
    group: GroupSnapshot
    rows: Sequence[OwnerRow]
    asked: bool
    told: bool
    joined: Sequence[str] = ()
    left: Sequence[str] = ()
    moved: Sequence[QueueKey] = ()
    dead_letters: int | None = None
    silent: Sequence[str] = ()
    flow: Flow | None = None


class GroupMemory:
    """The part of one group's past that rules may know."""

    __slots__ = (
        "_dead_letters",
        "_files",
        "_keys",
        "_last_owners",
        "_online_ms",
        "_read_topics",
        "_since",
        "_trail",
        "_turnover",
    )

    def __init__(self, moments: Iterable[Moment] = ()) -> None:
        """Begin with the moments that another collector saw, oldest first."""
        self._trail = TrailKeeper(moments)
        self._since = Since()
        self._turnover = Turnover()
        self._dead_letters = GrowthMeter()
        self._keys: tuple[QueueKey, ...] = ()
        self._files = FileWatch()
        self._last_owners: dict[QueueKey, str] = {}
        self._online_ms: int | None = None
        self._read_topics: frozenset[str] | None = None

    @classmethod
    def restored(
        cls,
        dumped: Mapping[str, Any],
        keys: Sequence[QueueKey],
        moments: Iterable[Moment] = (),
    ) -> GroupMemory:
        """Continue from what `dump` returned, and from moments.

        Without `keys` the dump was of other queues, and the owners of these are not
        known.
        """
        memory = cls(moments)
        memory._since = Since.restored(dumped.get("since", {}))
        memory._turnover = Turnover.restored(dumped.get("turnover", {}))
        memory._dead_letters = GrowthMeter.restored(dumped.get("dead_letters", {}))
        memory._files = FileWatch.restored(dumped.get("files", {}))
        memory._online_ms = dumped.get("online")
        if "read" in dumped:
            memory._read_topics = frozenset(dumped["read"])
        memory._keys = tuple(keys)
        for client, rows in (dumped.get("owners", {}) if keys else {}).items():
            memory._last_owners.update((keys[row], client) for row in rows)
        return memory

    def dump(self, keys: Sequence[QueueKey]) -> dict[str, Any]:
        """Return what is remembered as plain values, without the trail.

        Owners are listed by the rows of `keys`. Conditions seen only once are left out.
        """
        owners: dict[str, list[int]] = {}
        if self._last_owners:
            for row, key in enumerate(keys):
                client = self._last_owners.get(key)
                if client is not None:
                    owners.setdefault(client, []).append(row)
        found: dict[str, Any] = {
            "since": self._since.dump(at_least_ms=1),
            "turnover": self._turnover.dump(),
            "dead_letters": self._dead_letters.dump(),
            "files": self._files.dump(),
            "owners": owners,
            "online": self._online_ms,
            "read": sorted(self._read_topics or ()),
        }
        return {name: value for name, value in found.items() if value}

    def see(self, sighting: Sighting) -> Evidence:
        """Record one look and return what is now known."""
        at_ms, group = sighting.at_ms, sighting.group
        if group.members:
            self._online_ms = at_ms
            self._read_topics = group.read_topics()
        self._turnover.take(
            at_ms, joined=sighting.joined, left=sighting.left, moved=sighting.moved
        )
        self._note_connections(group, at_ms)
        if sighting.asked:
            self._note_reports(group, at_ms)
        self._note_owners(group, sighting.rows)
        return Evidence(
            at_ms=at_ms,
            group=group,
            rows=sighting.rows,
            told=sighting.told,
            trail=self._trail.take(Moment(at_ms, group.queues, sent_back(group))),
            since=self._since,
            last_owners=self._last_owners,
            stays=self._turnover.stays,
            moves=self._turnover.moves,
            dead_letters=self._dead_letters_of(sighting),
            file_losses=self._files.losses(at_ms),
            online_ms=self._online_ms,
            read_topics=self._read_topics,
            unheard=(unheard := frozenset(unheard_rows(group.queues))),
            silent=_silent(sighting, unheard),
            flow=sighting.flow,
        )

    @property
    def rests(self) -> bool:
        """Whether another look that shows the same adds nothing but its time."""
        return (
            self._turnover.rests
            and self._dead_letters.rests
            and self._files.rests
            and self._trail.retries_rest
            and not self._since.lasting(LISTED_TWICE, 0)
        )

    def see_again(self, times_ms: Sequence[int], group: GroupSnapshot) -> None:
        """Record looks that show the same group as the last one, at rest.

        Times are ms since the epoch, oldest first; there is at least one.
        """
        if group.members:
            self._online_ms = times_ms[-1]
        back = sent_back(group)
        for at_ms in times_ms:
            self._trail.add(Moment(at_ms, group.queues, back))

    def _dead_letters_of(self, sighting: Sighting) -> Growth:
        """Add up dead letters; those on a newly seen broker do not count as new."""
        keys, anew = sighting.group.queues.keys, False
        if keys is not self._keys:
            brokers = {key[1] for key in keys}
            anew = brokers != {key[1] for key in self._keys}
            self._keys = keys
        return self._dead_letters.take(sighting.dead_letters, sighting.at_ms, anew=anew)

    def _note_connections(self, group: GroupSnapshot, at_ms: int) -> None:
        if len(group.members) < 2:
            self._since.note(LISTED_TWICE, (), at_ms)
            return
        # A client that several brokers list is one member; only one broker listing it
        # twice counts.
        listed = Counter(member.client_id for member in group.members)
        twice = (client for client, times in listed.items() if times > 1)
        self._since.note(LISTED_TWICE, twice, at_ms)

    def _note_reports(self, group: GroupSnapshot, at_ms: int) -> None:
        since, told = self._since, [m for m in group.members if m.queues is not None]
        since.note(IDLE, (m.client_id for m in told if not _holds_any(m)), at_ms)
        since.note(
            UNLOCKED,
            (
                (member.client_id, key)
                for member in told
                if member.orderly
                for key, held in member.held.items()
                if not held.locked
            ),
            at_ms,
        )
        since.note(
            PULLED_LAST,
            (
                (member.client_id, key, held.last_pull_ms)
                for member in told
                for key, held in member.held.items()
            ),
            at_ms,
        )
        since.note(OLDEST_IN_HAND, _oldest_in_hand(group), at_ms)
        if group.kind is GroupKind.BROADCASTING:
            ends = dict(zip(group.queues.keys, group.queues.max, strict=True))
            self._files.take(group.members, ends, at_ms)

    def _note_owners(self, group: GroupSnapshot, rows: Iterable[OwnerRow]) -> None:
        for key, row in zip(group.queues.keys, rows, strict=True):
            if row.source == "reported" and len(row.owners) == 1:
                self._last_owners[key] = row.owners[0]


def _holds_any(member: MemberSnapshot) -> bool:
    """Tell whether a member holds a queue; those of retry topics do not count."""
    return any(not key[0].startswith(RETRY_PREFIX) for key in member.queues or ())


def _oldest_in_hand(group: GroupSnapshot) -> Iterator[tuple[str, QueueKey, int]]:
    for member in group.members:
        for key, held in member.held.items():
            if held.first is not None:
                yield member.client_id, key, held.first


def _silent(sighting: Sighting, unheard: Iterable[int]) -> tuple[str, ...]:
    keys, retry = sighting.group.queues.keys, sighting.group.retry
    silent = {keys[row][1] for row in unheard}
    silent.update(retry.keys[row][1] for row in unheard_rows(retry))
    return tuple(sorted(silent.union(sighting.silent)))


def sent_back(group: GroupSnapshot) -> int | None:
    """Return how many messages ever came to the retry topic."""
    newest = group.retry.max
    return newest.total() if newest.complete else None
