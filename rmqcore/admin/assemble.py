"""Assembles a snapshot from the answers of brokers and clients. No IO, no clock.

Theory. Topics are joined first (queues by broker), then each group is joined with
them: members from the connection lists, its queue table from the committed offsets,
owners from running infos or strategies. Equal parts are shared with the previous
snapshot, and groups that cannot have changed are taken from it (see `last_sweep`). What
a silent broker said last (see `memory`) tells which topics, queues, groups and members
there are; its numbers are never carried over.

Which groups exist: those of the group listings, of the offset tables, of retry topics
and of the connection lists, except RocketMQ's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from rmqcore.model.columns import Reason
from rmqcore.model.snapshot import (
    BrokerSnapshot,
    ClusterSnapshot,
    GroupKind,
    GroupSnapshot,
    NameServerSnapshot,
    QueueTable,
    TopicSnapshot,
)
from rmqcore.model.topic import retry_topic

from .joined_members import JoinedMembers, is_steady
from .last_sweep import LastSweep
from .members import OFFLINE, MemberReport, Membership, join_members
from .names import is_system_group
from .ownership import infer, nobody, owners_of, strategy_of
from .queue_tables import QueueTables
from .sweep import BrokerAnswers, Question
from .topic_rows import TopicRows, join_topics, known_topics, system_topics
from .versions import version_name

Reports = Mapping[tuple[str, str], MemberReport]

_OFFLINE_UNKNOWN: Final = MappingProxyType(
    dict.fromkeys(("mode", "consume_type", "strategy"), Reason.OFFLINE)
)


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything one snapshot is made of; answers are in the order of broker names."""

    question: Question
    answers: Sequence[BrokerAnswers]
    reports: Reports
    taken_at_ms: int
    took_ms: float
    nameserver: str | None
    nameservers: tuple[NameServerSnapshot, ...] = ()

    @property
    def of_everything(self) -> bool:
        """Whether all groups were asked about, and nothing else."""
        return self.question == Question()


def assemble(
    gathered: Gathered,
    previous: ClusterSnapshot | None = None,
    last: LastSweep | None = None,
) -> ClusterSnapshot:
    """Return the snapshot, which shares unchanged parts with the previous one.

    `last` is what is kept from one snapshot to the next.
    """
    last = last or LastSweep()
    joined = last.joined
    joined.begin(gathered.answers)
    answers = gathered.answers
    old_topics = {} if previous is None else previous.topics
    old_groups = {} if previous is None else previous.groups
    names = known_topics(answers, gathered.question.groups)
    rows = join_topics(answers, names, old_topics)
    joiner = _GroupJoiner(gathered, rows, joined, old_topics)
    topics = {name: row.topic for name, row in rows.items()}
    carries = gathered.of_everything and joiner.is_steady
    same = last.same_groups(previous, answers, topics) if carries else {}
    groups = {
        name: old_groups[name]
        if name in same
        else joiner.group(name, old_groups.get(name))
        for name in sorted(known_groups(gathered))
    }
    if gathered.question.groups is None:
        joined.keep(groups.keys())
    snapshot = ClusterSnapshot(
        gathered.taken_at_ms,
        tuple(map(broker_snapshot, answers)),
        topics,
        groups,
        gathered.took_ms,
        gathered.nameserver,
        gathered.nameservers,
        system_topics(answers),
    )
    if carries:
        last.note(snapshot, answers, same | joiner.topics)
    elif gathered.question.groups is None:
        last.forget()
    return snapshot


def known_groups(gathered: Gathered) -> set[str]:
    """Return the groups to show: all that exist, or those of them that were asked for.

    The groups of a silent broker are taken to exist still.
    """
    names: set[str] = set()
    for answer in gathered.answers:
        names |= answer.groups or frozenset()
        names |= {
            name
            for name, listed in answer.members.items()
            if not (isinstance(listed, Reason) and gathered.question.groups)
        }
        names |= answer.committed.keys()
        if answer.error is not None:
            names |= answer.memory.group_names
    if gathered.question.groups is not None:
        return names & gathered.question.groups
    return {name for name in names if not is_system_group(name)}


def broker_snapshot(answer: BrokerAnswers) -> BrokerSnapshot:
    """Return how a broker answered."""
    return BrokerSnapshot(
        answer.name,
        answer.broker.cluster,
        dict(sorted(answer.broker.addresses.items())),
        answer.error is None,
        answer.address,
        answer.stale,
        answer.asked_at_ms,
        answer.answered_at_ms,
        answer.took_ms,
        None if answer.version is None else version_name(answer.version),
        None if answer.error is None else answer.reason,
        None if answer.error is None else str(answer.error),
        answer.missing_since_ms,
        {fact: str(error) for fact, error in answer.faults.items()},
    )


class _GroupJoiner:
    """Joins each group of one sweep with the topics of that sweep."""

    def __init__(
        self,
        gathered: Gathered,
        rows: Mapping[str, TopicRows],
        joined: JoinedMembers,
        old_topics: Mapping[str, TopicSnapshot],
    ) -> None:
        self._answers = gathered.answers
        self._reports = gathered.reports
        self._rows = rows
        self._topics: dict[str, TopicSnapshot] = {
            name: row.topic for name, row in rows.items()
        }
        self._now_ms = gathered.taken_at_ms
        self._withdrawn = frozenset(
            answer.name
            for answer in gathered.answers
            if broker_snapshot(answer).withdrawn(self._now_ms)
        )
        self._joined = joined
        self.is_steady = not self._reports and is_steady(self._answers, self._now_ms)
        """Whether brokers alone tell who the members are."""
        self.topics: dict[str, tuple[str, ...]] = {}
        """The topics that exist of each group that was joined, with its retry topic."""
        self._shared: dict[tuple[str, ...], tuple[str, ...]] = {}
        # Those whose queues may be divided otherwise than before.
        self._reshaped = old_topics.keys() ^ self._topics.keys()
        self._reshaped |= {
            name
            for name, topic in self._topics.items()
            if name in old_topics and not _has_shape_of(topic, old_topics[name])
        }
        self._committed = [answer.committed for answer in gathered.answers]
        self._tables = QueueTables(rows, gathered.answers, gathered.question)

    def group(self, name: str, before: GroupSnapshot | None) -> GroupSnapshot:
        """Return one group; `before` itself when nothing in it changed."""
        membership = self._membership(name)
        retry = retry_topic(name)
        topics = self._topics_of(name, membership, retry)
        back = (retry,) if retry in self._rows else ()
        self.topics[name] = self._shared.setdefault(topics + back, topics + back)
        queues = self._tables.table(
            name, topics, None if before is None else before.queues
        )
        retries = self._tables.table(
            name, back, None if before is None else before.retry
        )
        if membership is OFFLINE:
            return _offline(name, queues, retries, before)
        return self._online(name, membership, queues, retries, before)

    def _membership(self, name: str) -> Membership:
        if self.is_steady:
            return self._joined.join(name, self._answers, self._now_ms)
        return join_members(name, self._answers, self._reports, self._now_ms)

    def _online(
        self,
        name: str,
        membership: Membership,
        queues: QueueTable,
        retries: QueueTable,
        before: GroupSnapshot | None,
    ) -> GroupSnapshot:
        if (
            self.is_steady
            and before is not None
            and before.members
            # It was made of this very membership, and so in a steady snapshot.
            and before.members is membership.members
            and before.queues.keys is queues.keys
            and self._reshaped.isdisjoint(key[0] for key in queues.keys)
        ):
            if before.queues is queues and before.retry is retries:
                return before
            return replace(before, queues=queues, retry=retries)
        kind, members = membership.kind, membership.members
        inferred = infer(
            name,
            kind,
            queues.keys,
            members,
            topics=self._topics,
            subscribed=frozenset(s.topic for s in membership.subscriptions),
            withdrawn=self._withdrawn,
        )
        strategy, source, strategy_reason = strategy_of(members)
        group = GroupSnapshot(
            name,
            kind,
            membership.mode,
            membership.consume_type,
            members,
            membership.subscriptions,
            strategy,
            source,
            queues,
            retries,
            owners_of(kind, queues.keys, members, inferred),
            inferred,
            _unknown(membership, strategy_reason),
        )
        if before is None or before != group:
            return group
        if self.is_steady and before.members is not members:
            # By this the next snapshot tells that the members are the same.
            return replace(before, members=members)
        return before

    def _topics_of(
        self, name: str, membership: Membership, retry: str
    ) -> tuple[str, ...]:
        topics: set[str] = set()
        for offsets in self._committed:
            topics.update(offsets.get(name, ()))
        used = {subscription.topic for subscription in membership.subscriptions}
        for member in membership.members:
            # Queues assigned by hand belong to topics that nobody subscribes to.
            used.update(key[0] for key in member.queues or ())
        topics |= used & self._rows.keys()
        topics.discard(retry)
        return tuple(sorted(topics))


def _has_shape_of(topic: TopicSnapshot, before: TopicSnapshot) -> bool:
    """Return whether a topic has the queues, on brokers set up alike, that it had."""
    return topic is before or (
        topic.keys == before.keys
        and topic.brokers == before.brokers
        and topic.pieces == before.pieces
    )


def _offline(
    name: str, queues: QueueTable, retries: QueueTable, before: GroupSnapshot | None
) -> GroupSnapshot:
    """Return a group without members, which is what most groups are."""
    if (
        before is not None
        and before.queues is queues
        and before.retry is retries
        and before.unknown is _OFFLINE_UNKNOWN
    ):
        return before
    owners = nobody(len(queues))
    return GroupSnapshot(
        name,
        GroupKind.OFFLINE,
        mode=None,
        consume_type=None,
        members=(),
        subscriptions=(),
        strategy=None,
        strategy_source=None,
        queues=queues,
        retry=retries,
        owners=owners,
        inferred=owners,
        unknown=_OFFLINE_UNKNOWN,
    )


def _unknown(
    membership: Membership, strategy_reason: Reason | None
) -> dict[str, Reason]:
    unknown: dict[str, Reason] = {}
    if membership.reason is not None:
        for name in ("mode", "consume_type", "members", "kind", "strategy"):
            unknown[name] = membership.reason
        return unknown
    if strategy_reason is not None:
        unknown["strategy"] = strategy_reason
    if membership.kind is GroupKind.MIXED:
        unknown["mode"] = Reason.MIXED
    return unknown
