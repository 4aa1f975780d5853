"""A cluster as one sweep saw it: brokers, topics, groups, members, queues.

Theory. Queues are rows of tables, and tables are columns (see `columns`): a group has
one `QueueTable` for the queues of its topics and one for its retry topic. Everything
else is few enough to be objects. A snapshot is immutable and may share any part with
the one before it; an unchanged part is usually the same object, which makes comparing
two snapshots cheap.

Invariants: rows are sorted by (topic, broker name, queue id); all columns of a table
are as long as its keys; topics and groups are in the order of their names. A value is
known, or unknown with a reason; a broker that a slave answered for is marked stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from .columns import Column, QueueKey, Reason
from .mapping import LogicalPiece
from .route import QueueData
from .subscription import ConsumeType, MessageModel, SubscriptionData
from .topic import DLQ_PREFIX, RETRY_PREFIX, Perm


class OwnerSource(StrEnum):
    """How the owner of a queue is known."""

    REPORTED = "reported"
    """The client's own running info (code 307) names the queue."""
    INFERRED = "inferred"
    """Computed from the strategy and the members, as each member computes it."""


class StrategySource(StrEnum):
    """How the strategy of a group is known."""

    REPORTED = "reported"
    ASSUMED = "assumed"
    """RocketMQ's default, because no member was asked."""


class GroupKind(StrEnum):
    """How the members of a group get their queues."""

    OWNED = "owned"
    SHARED_POP = "shared_pop"
    ASSIGNED_BY_HAND = "assigned_by_hand"
    BROADCASTING = "broadcasting"
    MIXED = "mixed"
    """Some of its brokers or members say CLUSTERING, others BROADCASTING."""
    OFFLINE = "offline"


class TopicKind(StrEnum):
    """The purpose of a topic."""

    NORMAL = "normal"
    RETRY = "retry"
    DEAD_LETTER = "dead_letter"


WITHDRAWN_MS: Final = 120_000
"""When a broker has not been named for this long, clients have given up its queues:
they ask for routes every 30 s and divide anew every 20 s."""


@dataclass(frozen=True, slots=True)
class NameServerSnapshot:
    """One name server, and the names of the brokers that it listed; sorted."""

    address: str
    answered: bool
    brokers: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class BrokerSnapshot:
    """One broker name, and how it answered. Times are ms since the epoch, by our clock.

    `answered` is true when it answered everything that it was asked. `stale` is true
    when a slave answered for its master: its offsets run behind. `missing_since_ms` is
    when the name servers stopped naming a broker that was there; None while they do.
    `faults` has the error of each fact ("topics", "groups", "offsets") that a broker
    refused although it answered others.
    """

    name: str
    cluster: str
    addresses: Mapping[int, str]
    answered: bool
    asked_address: str | None
    stale: bool = False
    asked_at_ms: int | None = None
    answered_at_ms: int | None = None
    took_ms: float | None = None
    version: str | None = None
    reason: Reason | None = None
    error: str | None = None
    missing_since_ms: int | None = None
    faults: Mapping[str, str] = field(default_factory=dict)

    def withdrawn(self, now_ms: int) -> bool:
        """Return whether clients have given up its queues by now."""
        missing_ms = self.missing_since_ms
        return missing_ms is not None and now_ms - missing_ms >= WITHDRAWN_MS

    @property
    def whole(self) -> bool:
        """Whether the name servers name it and its master answered everything."""
        return self.answered and not self.stale and self.missing_since_ms is None


@dataclass(frozen=True, slots=True)
class KnownBroker:
    """What is known of a broker that was there, to tell "missing" from "gone".

    `topics` are those that it last listed. `missing_since_ms` is when the name servers
    stopped naming it; None while they do.
    """

    name: str
    cluster: str
    addresses: Mapping[int, str]
    topics: Mapping[str, QueueData]
    missing_since_ms: int | None = None


@dataclass(frozen=True, slots=True)
class TopicSnapshot:
    """A topic's queues on every broker, and their configuration per broker name.

    The queues of a static topic are logical ones, whose broker name is of no broker;
    `pieces` has for each of its rows the physical queues behind it, oldest first.
    """

    name: str
    kind: TopicKind
    keys: tuple[QueueKey, ...]
    min: Column
    max: Column
    brokers: Mapping[str, QueueData]
    pieces: tuple[tuple[LogicalPiece, ...], ...] = ()

    @property
    def is_static(self) -> bool:
        """Whether its queues are logical ones."""
        return bool(self.pieces)

    def readable(self) -> tuple[QueueKey, ...]:
        """Return the queues that consumers may read, which are the ones they divide."""
        if self.is_static:
            return self.keys
        reach = {
            name: data.read_queue_nums if Perm.READ in data.perm else 0
            for name, data in self.brokers.items()
        }
        return tuple(key for key in self.keys if key[2] < reach.get(key[1], 0))


@dataclass(frozen=True, slots=True)
class QueueTable:
    """The queues of a group as rows; every column is as long as `keys`."""

    keys: tuple[QueueKey, ...]
    min: Column
    max: Column
    committed: Column
    lag: Column
    pulled: Column
    lag_ms: Column

    def __len__(self) -> int:
        return len(self.keys)

    def waiting(self, row: int) -> int | None:
        """Return a queue's lag; 0 where it is empty and was never committed."""
        lag = self.lag[row]
        if lag is not None:
            return lag
        low, high = self.min[row], self.max[row]
        return 0 if low is not None and high is not None and high <= low else None

    def with_ages(self, lag_ms: Column) -> QueueTable:
        """Return the table with other ages."""
        # `dataclasses.replace` takes several times as long.
        return QueueTable(
            self.keys,
            self.min,
            self.max,
            self.committed,
            self.lag,
            self.pulled,
            lag_ms,
        )

    @property
    def lag_partial(self) -> bool:
        """Whether messages may be missing from the sum of the lag."""
        if self.lag.complete:
            return False
        return any(self.waiting(row) is None for row in range(len(self.keys)))


EMPTY_TABLE: Final = QueueTable((), *(Column.unknown(0, Reason.NOT_ASKED),) * 6)


@dataclass(frozen=True, slots=True)
class Owners:
    """Who owns each row of a group's queue table.

    `by_row` is empty when nothing is known, and `reason` says why. Otherwise a row
    without a client id has no owner, and one with several is owned more than once.
    `source` is None where there is nothing to infer from, as in a group without
    members.
    """

    by_row: tuple[tuple[str, ...], ...] = ()
    sources: tuple[OwnerSource | None, ...] = ()
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class HeldQueue:
    """A member's report about one queue that it holds (307).

    `committed` is the member's own view of its progress, None where it has none:
    for a broadcasting member that is the only place where progress is known at all.
    `cached` messages wait or are being consumed, from offset `first` to `last` (None
    when there are none). `locked` matters only for orderly members. Times are ms by the
    member's clock, so they compare with each other and not with ours.
    """

    committed: int | None = None
    cached: int = 0
    first: int | None = None
    last: int | None = None
    locked: bool = False
    last_pull_ms: int = 0
    last_consume_ms: int = 0
    last_lock_ms: int = 0


@dataclass(frozen=True, slots=True)
class MemberSnapshot:
    """One connected client of a group.

    Values that only its running info (307) tells are None until asked for, and `reason`
    says why: `strategy` (RocketMQ's name, or the class name of an unknown one), its own
    `subscriptions`, `orderly`, and `queues`, the rows it holds right now, with
    `in_hand`, the messages pulled and not yet consumed, and `held`, its report about
    each queue. `pop_queues` are those it shares with others (POP). `asked_at_ms` and
    `answered_at_ms` say when. `brokers` are those that list the member, or listed it:
    `missing_since_ms` is set when none of them can be heard now, or can know yet after
    its own restart.
    """

    client_id: str
    address: str
    language: str
    version: str
    brokers: tuple[str, ...]
    strategy: str | None = None
    subscriptions: tuple[SubscriptionData, ...] | None = None
    orderly: bool | None = None
    started_at_ms: int | None = None
    queues: tuple[QueueKey, ...] | None = None
    pop_queues: tuple[QueueKey, ...] = ()
    in_hand: int | None = None
    held: Mapping[QueueKey, HeldQueue] = field(default_factory=dict)
    asked_at_ms: int | None = None
    answered_at_ms: int | None = None
    reason: Reason | None = Reason.NOT_ASKED
    missing_since_ms: int | None = None


@dataclass(frozen=True, slots=True)
class GroupSnapshot:
    """A consumer group: members, subscriptions as the broker holds them, queues.

    `mode` and `consume_type` are None while no member is online. `owners` is the best
    that is known; `inferred` is given, too, where members report, so that the two can
    be compared. `unknown` gives reasons for fields of the group itself.
    """

    name: str
    kind: GroupKind
    mode: MessageModel | None
    consume_type: ConsumeType | None
    members: tuple[MemberSnapshot, ...]
    subscriptions: tuple[SubscriptionData, ...]
    strategy: str | None
    strategy_source: StrategySource | None
    queues: QueueTable
    retry: QueueTable
    owners: Owners
    inferred: Owners
    unknown: Mapping[str, Reason] = field(default_factory=dict)

    def with_queues(self, queues: QueueTable) -> GroupSnapshot:
        """Return the group with another table of queues."""
        return GroupSnapshot(
            self.name,
            self.kind,
            self.mode,
            self.consume_type,
            self.members,
            self.subscriptions,
            self.strategy,
            self.strategy_source,
            queues,
            self.retry,
            self.owners,
            self.inferred,
            self.unknown,
        )

    def read_topics(self) -> frozenset[str] | None:
        """Return the topics that members read now; None where that is not known.

        A group keeps its committed offsets of a topic long after its members have
        unsubscribed, so its queue table may have more topics. The members' own reports
        count; while one has not reported, so do the subscriptions that brokers hold.
        """
        read = {key[0] for member in self.members for key in member.queues or ()}
        for member in self.members:
            read.update(own.topic for own in member.subscriptions or ())
        if any(member.subscriptions is None for member in self.members):
            read.update(subscription.topic for subscription in self.subscriptions)
        return frozenset(read) or None


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """One sweep over a cluster. `taken_at_ms` is when it began, `took_ms` how long.

    `brokers` are those that the name servers name, and those that they named before and
    that nobody has declared gone. `nameserver` is the first that answered; None when
    none did, and the brokers are those known before. `system_topics` are those that
    RocketMQ made for itself, by name and broker; only those that a group consumes are
    among `topics`, too.
    """

    taken_at_ms: int
    brokers: tuple[BrokerSnapshot, ...]
    topics: Mapping[str, TopicSnapshot]
    groups: Mapping[str, GroupSnapshot]
    took_ms: float = 0.0
    nameserver: str | None = None
    nameservers: tuple[NameServerSnapshot, ...] = ()
    system_topics: Mapping[str, Mapping[str, QueueData]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every known broker is named and answered everything."""
        return all(
            broker.answered and broker.missing_since_ms is None
            for broker in self.brokers
        )


def topic_kind(topic: str) -> TopicKind:
    """Return the purpose of a topic, by its name."""
    if topic.startswith(RETRY_PREFIX):
        return TopicKind.RETRY
    if topic.startswith(DLQ_PREFIX):
        return TopicKind.DEAD_LETTER
    return TopicKind.NORMAL
