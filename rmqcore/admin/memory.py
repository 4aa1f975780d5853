"""What each broker said when it last answered, for use while it is silent.

A broker that is silent, or that the name servers no longer name, still has its topics,
its groups and its members. They are kept as names; numbers are never carried over. Its
members are *missing* then, unless a broker that answers lists them too: the word of
that broker counts.

A restarted broker knows its topics and offsets at once, but its members only after they
have connected again, with their next heartbeat. Until then it is *settling*: a member
it lists is there, a member it does not list is missing, not gone. A restart shows in
the broker's connections, which have all ended; a broker that was only slow kept them,
and is believed at once. A broker that stood still for long has dropped some members
when it wakes, and settles, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from rmqcore.model.columns import Reason
from rmqcore.model.snapshot import GroupSnapshot
from rmqcore.protocol.bodies import ClientConnection, ConsumerConnection

from .answered import Answered
from .listings import Remembered
from .tables import GroupOffsets, KnownOffsets, TopicOffsets

SETTLING_MS: Final = 40_000
"""Clients send heartbeats every 30 s."""

LET_GO_MS: Final = 60_000
"""A broker drops members from which it has read nothing for 120 s. When it stops, the
last heartbeat may be 30 s old already, and one more may be late."""

MOST_LEFT: Final = 1_000
"""Of those that left, the newest are enough: brokers are away for a few minutes."""

Listed = ConsumerConnection | Reason

_HEARD_ABSENT: Final = (Reason.OFFLINE, Reason.NOT_LISTED)


@dataclass(slots=True)
class Memory:
    """What a broker last said; `silent_since_ms` is set until it has settled."""

    topics: Remembered | None = None
    groups: Remembered | None = None
    topic_names: frozenset[str] = frozenset()
    """The topics that a sweep of everything asked about."""
    group_names: frozenset[str] = frozenset()
    """The groups that the sweep showed."""
    queue_ids: dict[str, list[int]] = field(default_factory=dict)
    """The queues of each topic, which may be others than the listing said."""
    committed: GroupOffsets = field(default_factory=dict)
    members: dict[str, ConsumerConnection] = field(default_factory=dict)
    silent_since_ms: int | None = None
    settled_ms: int = 0
    left: dict[tuple[str, str], None] = field(default_factory=dict)
    """Members, by group and client id, that said that they leave; oldest first."""
    met: dict[tuple[str, str], int] = field(default_factory=dict)
    """How many connections of a member, by group and client id, it has listed at once
    since it began to settle: two processes may share a client id."""
    offsets: KnownOffsets = field(default_factory=KnownOffsets)
    stats: Answered[TopicOffsets] = field(default_factory=Answered)
    connections: Answered[ConsumerConnection] = field(default_factory=Answered)
    channel: object = None
    """The connection through which it last answered."""

    def note_left(self, group: str, client_id: str) -> None:
        """Note that a member leaves: not listed, it has gone and is not missing."""
        self.left[group, client_id] = None
        while len(self.left) > MOST_LEFT:
            del self.left[next(iter(self.left))]

    def note_there(self, group: str, client_id: str) -> None:
        """Note that a member is there, perhaps again."""
        self.left.pop((group, client_id), None)

    def note_silence(self, now_ms: int) -> None:
        """Note that the broker did not answer a sweep."""
        if self.silent_since_ms is None:
            self.silent_since_ms = now_ms

    def note_channel(self, channel: object, now_ms: int) -> None:
        """Note the connection through which the broker is asked."""
        if self.channel is not None and self.channel is not channel:
            self._settle(now_ms)
            self.note_silence(now_ms)
        self.channel = channel

    def note_answer(self, now_ms: int) -> None:
        """Note that the broker answered a sweep."""
        if self._stood_still(now_ms):
            self._settle(now_ms)
        if not self.settling(now_ms):
            self.silent_since_ms = None

    def settling(self, now_ms: int) -> bool:
        """Return whether members that it does not list may not have connected yet."""
        return now_ms < self.settled_ms or self._stood_still(now_ms)

    def _settle(self, now_ms: int) -> None:
        self.settled_ms = now_ms + SETTLING_MS
        self.met.clear()

    def _stood_still(self, now_ms: int) -> bool:
        """Return whether it has not answered since a silence in which it drops members.

        Once it has answered, it settles, and that silence no longer counts.
        """
        since_ms = self.silent_since_ms
        return (
            since_ms is not None
            and self.settled_ms <= since_ms
            and now_ms - since_ms >= LET_GO_MS
        )


def heard(listed: Listed) -> bool:
    """Return whether a broker said who is connected, even if nobody is."""
    return isinstance(listed, ConsumerConnection) or listed in _HEARD_ABSENT


@dataclass(frozen=True, slots=True)
class View:
    """What one broker says about a group's members, and what it last said."""

    broker: str
    listed: Listed
    memory: Memory
    now_ms: int

    @property
    def connections(self) -> tuple[ClientConnection, ...]:
        """The connected clients, as far as the broker has told them."""
        return _connections(self.listed)

    @property
    def sure(self) -> bool:
        """True when whoever is not listed has gone."""
        return heard(self.listed) and not self.memory.settling(self.now_ms)

    def last(self, group: str) -> tuple[ClientConnection, ...]:
        """Return who was connected when it last answered, and may still be.

        A member that it listed while settling, and no longer lists, has left. Of two
        connections with one client id, the other may still be there.
        """
        before = self.memory.members.get(group)
        known = () if before is None else before.connections
        settles = heard(self.listed) and not self.sure
        gone = {
            each.client_id: max(
                (group, each.client_id) in self.memory.left,
                self.memory.met.get((group, each.client_id), 0) if settles else 0,
            )
            for each in known
        }
        return _beyond(known, gone)


def missing_members(group: str, views: Iterable[View]) -> dict[str, ConsumerConnection]:
    """Return the connections, by broker name, that existed and may still exist.

    They belong to client ids that no broker lists now, and that were not listed before
    by any broker whose listing can be relied on now.
    """
    views = list(views)
    doubtful = [view for view in views if not view.sure and view.last(group)]
    if not doubtful:
        return {}
    settled = {
        client.client_id
        for view in views
        for client in (*view.connections, *(view.last(group) if view.sure else ()))
    }
    missing: dict[str, ConsumerConnection] = {}
    for view in doubtful:
        kept = tuple(c for c in view.last(group) if c.client_id not in settled)
        if kept:
            before = view.memory.members[group]
            missing[view.broker] = replace(before, connections=kept)
    return missing


def remember_members(
    memory: Memory,
    members: Mapping[str, Listed],
    groups: Mapping[str, GroupSnapshot],
    now_ms: int,
) -> None:
    """Remember the members that a broker listed in a sweep; the sweep made `groups`."""
    settling = memory.settling(now_ms)
    for group, listed in members.items():
        if not heard(listed):
            continue
        before = memory.members.get(group)
        if settling:
            for client_id, n in _counted(_connections(listed)).items():
                key = group, client_id
                memory.met[key] = max(n, memory.met.get(key, 0))
        kept = _merged(listed, before) if settling and before is not None else listed
        if isinstance(kept, ConsumerConnection):
            memory.members[group] = kept
        else:
            memory.members.pop(group, None)
    for group in memory.members.keys() & groups.keys():
        if settling or not heard(members.get(group, Reason.NO_ANSWER)):
            _keep_shown(memory, group, groups[group])


def _merged(listed: Listed, before: ConsumerConnection) -> ConsumerConnection:
    connections = _connections(listed)
    also = _beyond(before.connections, _counted(connections))
    base = listed if isinstance(listed, ConsumerConnection) else before
    return replace(base, connections=(*connections, *also))


def _counted(connections: Iterable[ClientConnection]) -> Counter[str]:
    """Return how many connections each client id has."""
    return Counter(each.client_id for each in connections)


def _beyond(
    known: Iterable[ClientConnection], gone: Mapping[str, int]
) -> tuple[ClientConnection, ...]:
    """Return the connections that remain when so many of each client id are not."""
    seen: Counter[str] = Counter()
    kept = []
    for each in known:
        seen[each.client_id] += 1
        if seen[each.client_id] > gone.get(each.client_id, 0):
            kept.append(each)
    return tuple(kept)


def _keep_shown(memory: Memory, group: str, shown: GroupSnapshot) -> None:
    """Drop the members that another broker has shown to be gone."""
    there = {member.client_id for member in shown.members}
    before = memory.members[group]
    kept = tuple(c for c in before.connections if c.client_id in there)
    if kept:
        memory.members[group] = replace(before, connections=kept)
    else:
        del memory.members[group]


def _connections(listed: Listed) -> tuple[ClientConnection, ...]:
    if isinstance(listed, ConsumerConnection):
        return tuple(listed.connections)
    return ()
