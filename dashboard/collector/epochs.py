"""Epochs of a group: spans with the same members and queues, seen by whole sweeps.

A sweep in which a needed broker did not answer neither opens nor closes an epoch, since
what it does not show may well be there. Begin and end are intervals: the change
happened after the last sweep that saw the old state and no later than the first that
saw the new one.

What a member has not said (its strategy and subscriptions, while nobody asks it) is
equal to anything; once known, it belongs to the running epoch. No client can be asked
for a strategy's options; those of a hosted group are known once its members report that
they divide as requested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from dashboard.wording.names import member_number
from rmqcore.model import SubscriptionData
from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import GroupKind, GroupSnapshot

FIRST_SEEN: Final = "first_seen"
MEMBER_JOINED: Final = "member_joined"
MEMBER_LEFT: Final = "member_left"
MEMBERS_CHANGED: Final = "members_changed"
QUEUES_CHANGED: Final = "queues_changed"
STRATEGY_CHANGED: Final = "strategy_changed"
OPTIONS_CHANGED: Final = "options_changed"
SUBSCRIPTION_CHANGED: Final = "subscription_changed"

MIXED: Final = "MIXED"
"""The mode of a group that is CLUSTERING and BROADCASTING at once."""

MOST_GONE: Final = 10_000
"""Groups of a cluster that are gone and whose last numbers are remembered."""

Subscriptions = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class EpochMember:
    """A member as it counts for an epoch; None for what it was not asked."""

    client_id: str
    strategy: str | None = None
    subscriptions: Subscriptions | None = None


@dataclass(frozen=True, slots=True)
class WantedStrategy:
    """How the members of a hosted group are to divide: a strategy, its options as JSON.

    Keys of the JSON are sorted, so that equal options are equal texts.
    """

    strategy: str
    options: str


@dataclass(frozen=True, slots=True)
class Membership:
    """The members of a group in RocketMQ's order, and the queues they divide.

    `options` are the strategy's, as `WantedStrategy` has them; None where they are not
    known. `mode` (CLUSTERING, BROADCASTING or MIXED) is what the members say; only
    CLUSTERING divides anything. It opens no epoch, since a member cannot change it.
    """

    members: tuple[EpochMember, ...]
    queues: tuple[QueueKey, ...]
    options: str | None = None
    mode: str | None = None

    @property
    def strategy(self) -> str | None:
        """The strategy of all members; None where not known, or not the same."""
        strategies = {member.strategy for member in self.members}
        return strategies.pop() if len(strategies) == 1 else None

    @property
    def client_ids(self) -> tuple[str, ...]:
        """The members' client ids, in their order."""
        return tuple(member.client_id for member in self.members)

    @property
    def brokers(self) -> set[str]:
        """The brokers that hold the queues."""
        return {broker for _topic, broker, _queue_id in self.queues}


@dataclass(frozen=True, slots=True)
class Epoch:
    """One epoch; `ended_…` are None while it runs. Times in ms since the epoch.

    `owners` are the owners last reported in it, set once it has ended.
    """

    number: int
    membership: Membership
    cause: str
    began_after_ms: int | None
    began_by_ms: int
    ended_after_ms: int | None = None
    ended_by_ms: int | None = None
    owners: Mapping[QueueKey, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EpochTurn:
    """One epoch gave way to another; `ended` is None for the first of a group."""

    ended: Epoch | None
    begun: Epoch

    @property
    def joined(self) -> tuple[str, ...]:
        """Client ids that are new, once for each connection."""
        before = self.ended.membership.client_ids if self.ended else ()
        return _more(self.begun.membership.client_ids, before)

    @property
    def left(self) -> tuple[str, ...]:
        """Client ids that are gone, once for each connection."""
        before = self.ended.membership.client_ids if self.ended else ()
        return _more(before, self.begun.membership.client_ids)


class EpochBook:
    """The running epoch of one group; starts from the stored one, if any.

    `last_number` is the number of the group's last epoch where none is running.
    """

    __slots__ = ("_last_number", "_learned", "_seen_ms", "current", "owners")

    def __init__(self, stored: Epoch | None = None, last_number: int = 0) -> None:
        self.current = stored
        self.owners: Mapping[QueueKey, tuple[str, ...]] = {}
        """The owners last reported, kept up to date by whoever receives the reports."""
        self._last_number = last_number
        self._learned = False
        self._seen_ms = stored.began_by_ms if stored else None

    def observe(
        self, membership: Membership, silent_brokers: Collection[str], at_ms: int
    ) -> EpochTurn | None:
        """Take one sweep's view; return the change of epoch if the state differs."""
        current = self.current
        needed = membership.brokers | (current.membership.brokers if current else set())
        if needed & set(silent_brokers):
            return None
        if current is None:
            number = self._last_number + 1
            return self._turn(None, Epoch(number, membership, FIRST_SEEN, None, at_ms))
        cause = difference(current.membership, membership)
        if cause is None:
            known = _merged(current.membership, membership)
            self._learned |= known != current.membership
            self.current = replace(current, membership=known)
            self._seen_ms = at_ms
            return None
        ended = self._ended(current, at_ms)
        number = current.number + 1
        return self._turn(ended, Epoch(number, membership, cause, self._seen_ms, at_ms))

    def see_again(self, at_ms: int) -> None:
        """Take a sweep that shows the running epoch as the last one did."""
        self._seen_ms = at_ms

    def take_learned(self) -> Epoch | None:
        """Return the running epoch if more is known of it than when last asked."""
        learned, self._learned = self._learned, False
        return self.current if learned else None

    def end(self, silent_brokers: Collection[str], at_ms: int) -> Epoch | None:
        """Take a whole sweep in which the group is gone; return the ended epoch.

        None if none was running, or if a broker that holds its queues did not answer:
        the group may still be there. If it returns, its numbers continue.
        """
        current = self.current
        if current is None or current.membership.brokers & set(silent_brokers):
            return None
        ended = self._ended(current, at_ms)
        self.current, self._last_number = None, current.number
        self.owners = {}
        return ended

    @property
    def last_number(self) -> int:
        """The number of the group's newest epoch, 0 before the first."""
        return self._last_number if self.current is None else self.current.number

    def _ended(self, current: Epoch, at_ms: int) -> Epoch:
        return replace(
            current,
            ended_after_ms=self._seen_ms,
            ended_by_ms=at_ms,
            owners=dict(self.owners),
        )

    def _turn(self, ended: Epoch | None, begun: Epoch) -> EpochTurn:
        self.current = begun
        self._learned = False
        self._seen_ms = begun.began_by_ms
        return EpochTurn(ended, begun)


class GoneBooks:
    """The books of groups that are not there; the newest of the ended ones are kept.

    A group that returns after its book was given up begins above the numbers of all
    that were given up, so that none of its numbers is used twice.
    """

    def __init__(self, books: Mapping[str, EpochBook]) -> None:
        self._books = dict(books)
        self._floor = 0
        self._give_up()

    def items(self) -> Iterable[tuple[str, EpochBook]]:
        """Return the books by the names of their groups, the longest gone first."""
        return self._books.items()

    def add(self, gone: Mapping[str, EpochBook]) -> None:
        """Keep the books of groups that are gone."""
        self._books.update(gone)
        self._give_up()

    def take(self, group: str) -> EpochBook:
        """Return the book with which a group goes on."""
        return self._books.pop(group, None) or EpochBook(last_number=self._floor)

    def _give_up(self) -> None:
        over = len(self._books) - MOST_GONE
        if over <= 0:
            return
        # The end of a running epoch is still to be written.
        ended = [name for name, book in self.items() if book.current is None]
        for name in ended[:over]:
            self._floor = max(self._floor, self._books.pop(name).last_number)


def membership_of(
    group: GroupSnapshot,
    wish: WantedStrategy | None = None,
    withdrawn: Collection[str] = (),
) -> Membership:
    """Return the part of a snapshot that counts for epochs.

    `wish` is set if the group is hosted. Queues of `withdrawn` brokers are no longer
    divided.
    """
    members = tuple(
        EpochMember(member.client_id, member.strategy, _plain(member.subscriptions))
        for member in group.members
    )
    follow = wish is not None and _follow(members, group.name, wish.strategy)
    options = wish.options if wish is not None and follow else None
    queues = group.queues.keys
    if withdrawn:
        queues = tuple(key for key in queues if key[1] not in withdrawn)
    mode = MIXED if group.kind is GroupKind.MIXED else group.mode
    return Membership(members, queues, options, mode)


def _follow(members: Collection[EpochMember], group: str, strategy: str) -> bool:
    """Tell whether all members are hosted here and report to divide as requested.

    Just after a change they do not yet; a foreign member has options of its own.
    """
    return bool(members) and all(
        member_number(member.client_id, group) is not None
        # A strategy nested in another is part of the reported name, but not of ours.
        and member.strategy is not None
        and strategy in {member.strategy, member.strategy.partition("-")[0]}
        for member in members
    )


def difference(before: Membership, after: Membership) -> str | None:
    """Return why `after` is not the same epoch as `before`, None if it is."""
    joined = _more(after.client_ids, before.client_ids)
    left = _more(before.client_ids, after.client_ids)
    if joined and left:
        return MEMBERS_CHANGED
    if joined:
        return MEMBER_JOINED
    if left:
        return MEMBER_LEFT
    if before.queues != after.queues:
        return QUEUES_CHANGED
    pairs = list(zip(before.members, after.members, strict=True))
    if any(_differ(a.strategy, b.strategy) for a, b in pairs):
        return STRATEGY_CHANGED
    if _differ(before.options, after.options):
        return OPTIONS_CHANGED
    if any(_differ(a.subscriptions, b.subscriptions) for a, b in pairs):
        return SUBSCRIPTION_CHANGED
    return None


def _more(ids: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """Return the client ids that `others` lack; each connection counts."""
    return tuple((Counter(ids) - Counter(others)).elements())


def _differ(before: object, after: object) -> bool:
    return before is not None and after is not None and before != after


def _merged(before: Membership, after: Membership) -> Membership:
    if before == after:
        return before
    known = {member.client_id: member for member in before.members}
    members = tuple(
        EpochMember(
            member.client_id,
            member.strategy or known[member.client_id].strategy,
            member.subscriptions or known[member.client_id].subscriptions,
        )
        for member in after.members
    )
    return replace(
        after,
        members=members,
        options=after.options or before.options,
        mode=after.mode or before.mode,
    )


def _plain(subscriptions: tuple[SubscriptionData, ...] | None) -> Subscriptions | None:
    if subscriptions is None:
        return None
    return tuple(sorted((s.topic, s.sub_string) for s in subscriptions))
