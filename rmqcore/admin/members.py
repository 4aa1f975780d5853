"""Joins what brokers and the clients themselves say about a group's members.

A client is connected to every broker of its topics, so each broker lists it. Brokers
that disagree are not corrected: a member carries the names of those that list it. A
member that no broker lists stays, as missing, while the brokers that would know do not
answer (see `memory`). Two processes with one client id (behaviour A5b) are listed twice
by one broker and stay two members.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from rmqcore.allocation import reported_strategy
from rmqcore.model.columns import QueueKey, Reason
from rmqcore.model.queue import MessageQueue, utf16_key
from rmqcore.model.snapshot import GroupKind, HeldQueue, MemberSnapshot
from rmqcore.model.subscription import ConsumeType, MessageModel, SubscriptionData
from rmqcore.model.topic import retry_topic
from rmqcore.protocol.bodies import (
    ClientConnection,
    ConsumerConnection,
    ConsumerRunningInfo,
    ProcessQueueInfo,
    RunningProperty,
)

from .memory import Listed, View, heard, missing_members
from .sweep import BrokerAnswers
from .versions import version_name

_STRATEGY_PROPERTY = "allocateMessageQueueStrategy"
_MODE_PROPERTY = "messageModel"

_GRPC_CLIENT_ID: Final = re.compile(r"[^@]+@\d+@\d+@[0-9a-z]+\Z")
"""Host, process id, index and time in base 36: the client ids of the gRPC protocol.

A proxy registers them like remoting clients. It hands their messages out one by one, so
no queue of theirs has an owner, and it does not answer when asked what they hold.
"""


@dataclass(frozen=True, slots=True)
class MemberReport:
    """A client's running info (307), or why there is none, and when it was asked."""

    info: ConsumerRunningInfo | Reason
    asked_at_ms: int
    answered_at_ms: int | None


@dataclass(frozen=True, slots=True)
class Membership:
    """A group's members and what the brokers know of the group as a whole."""

    members: tuple[MemberSnapshot, ...]
    modes: frozenset[MessageModel]
    """The modes that brokers and members report; several where they disagree."""
    consume_type: ConsumeType | None
    subscriptions: tuple[SubscriptionData, ...]
    reason: Reason | None
    """Why mode and members are unknown; None when they are known."""

    @property
    def mode(self) -> MessageModel | None:
        """The mode that all report; None where nobody does, or they disagree."""
        return next(iter(self.modes)) if len(self.modes) == 1 else None

    @property
    def kind(self) -> GroupKind:
        """How these members get their queues."""
        if not self.members:
            return GroupKind.OFFLINE
        if len(self.modes) > 1:
            return GroupKind.MIXED
        if self.mode is MessageModel.BROADCASTING:
            return GroupKind.BROADCASTING
        shares = any(member.pop_queues for member in self.members)
        if shares or self.consume_type is ConsumeType.POP:
            return GroupKind.SHARED_POP
        if all(_GRPC_CLIENT_ID.match(member.client_id) for member in self.members):
            return GroupKind.SHARED_POP
        if self.consume_type is ConsumeType.PULL and not self.subscriptions:
            return GroupKind.ASSIGNED_BY_HAND
        return GroupKind.OWNED


OFFLINE = Membership((), frozenset(), None, (), Reason.OFFLINE)


def join_members(
    group: str,
    answers: Sequence[BrokerAnswers],
    reports: Mapping[tuple[str, str], MemberReport],
    now_ms: int,
) -> Membership:
    """Return the group's members, in the order in which they are allocated queues."""
    views = [
        View(answer.name, listed_by(group, answer), answer.memory, now_ms)
        for answer in answers
    ]
    connected = [
        (view.broker, view.listed)
        for view in views
        if isinstance(view.listed, ConsumerConnection)
    ]
    absent = missing_members(group, views)
    unheard = [view.listed for view in views if not heard(view.listed)]
    if not connected and not absent:
        if not unheard:
            return OFFLINE
        return replace(OFFLINE, reason=cast("Reason", unheard[-1]))
    everyone = [*connected, *absent.items()]
    since = {view.broker: view.memory.silent_since_ms or now_ms for view in views}
    settled = (
        view.listed
        for view in views
        if view.sure and isinstance(view.listed, ConsumerConnection)
    )
    # If a broker has kept its connections, those that may have lost some do not count.
    processes = _processes(each for _, each in connected) | _processes(settled)
    members = [
        *_members(group, connected, reports, processes),
        *(
            replace(
                member,
                reason=Reason.MISSING,
                missing_since_ms=max(since[broker] for broker in member.brokers),
            )
            for member in _members(
                group, absent.items(), {}, _processes(absent.values())
            )
        ),
    ]
    return Membership(
        tuple(sorted(members, key=lambda member: utf16_key(member.client_id))),
        frozenset(_modes(group, connected or everyone, members, reports)),
        everyone[0][1].consume_type,
        _newest(group, (connection for _, connection in everyone)),
        None,
    )


def listed_by(group: str, answer: BrokerAnswers) -> Listed:
    """Return whom a broker lists as a group's members, or why it lists nobody."""
    # A broker that never heard of the group has no members of it.
    absent = Reason.OFFLINE if answer.error is None else answer.reason_of("groups")
    return answer.members.get(group, absent)


def _modes(
    group: str,
    connected: Iterable[tuple[str, ConsumerConnection]],
    members: Iterable[MemberSnapshot],
    reports: Mapping[tuple[str, str], MemberReport],
) -> Iterable[MessageModel]:
    """Yield the reported modes; a broker reports only that of the newest heartbeat."""
    for _broker, connection in connected:
        if connection.message_model is not None:
            yield connection.message_model
    for member in members:
        report = reports.get((group, member.client_id))
        if report is not None and not isinstance(report.info, Reason):
            told = report.info.properties.get(_MODE_PROPERTY)
            yield from (mode for mode in MessageModel if mode == told)


def _members(
    group: str,
    connected: Iterable[tuple[str, ConsumerConnection]],
    reports: Mapping[tuple[str, str], MemberReport],
    processes: Mapping[str, int],
) -> Iterable[MemberSnapshot]:
    seen: dict[tuple[str, int], tuple[ClientConnection, list[str]]] = {}
    for broker, connection in connected:
        times: Counter[str] = Counter()
        for client in sorted(connection.connections, key=_place):
            place = (client.client_id, times[client.client_id])
            times[client.client_id] += 1
            if place[1] >= processes[client.client_id]:
                continue
            seen.setdefault(place, (client, []))[1].append(broker)
    for client_id, number in sorted(seen, key=lambda p: (utf16_key(p[0]), p[1])):
        client, brokers = seen[client_id, number]
        yield _member(group, client, brokers, reports.get((group, client_id)))


def _processes(connections: Iterable[ConsumerConnection]) -> dict[str, int]:
    """Return how many processes use each client id.

    Processes that share an id are connected to every broker of their topics. One that
    lost a connection and made another is listed twice only by the broker that has not
    yet dropped the first, so the broker that lists an id least often is right.
    """
    found: dict[str, int] = {}
    for connection in connections:
        for client_id, count in Counter(
            client.client_id for client in connection.connections
        ).items():
            found[client_id] = min(count, found.get(client_id, count))
    return found


def _place(client: ClientConnection) -> tuple[str, str]:
    return client.client_id, client.client_addr


def _member(
    group: str,
    client: ClientConnection,
    brokers: Sequence[str],
    report: MemberReport | None,
) -> MemberSnapshot:
    member = MemberSnapshot(
        client.client_id,
        client.client_addr.removeprefix("/"),
        client.language,
        version_name(client.version),
        tuple(brokers),
    )
    if report is None:
        return member
    if isinstance(report.info, Reason):
        return replace(member, asked_at_ms=report.asked_at_ms, reason=report.info)
    return _with_report(group, member, report, report.info)


def _with_report(
    group: str, member: MemberSnapshot, report: MemberReport, info: ConsumerRunningInfo
) -> MemberSnapshot:
    properties = info.properties
    strategy = properties.get(_STRATEGY_PROPERTY)
    orderly = properties.get(RunningProperty.CONSUME_ORDERLY)
    started = properties.get(RunningProperty.CONSUMER_START_TIMESTAMP, "")
    held = {q: state for q, state in info.queues.items() if not state.droped}
    # Java's pull consumers, except the newest ones, do not tell what they hold.
    pulls = properties.get(RunningProperty.CONSUME_TYPE) == ConsumeType.PULL
    silent = pulls and not held
    own = retry_topic(group)
    return replace(
        member,
        strategy=None if strategy is None else _strategy_name(strategy),
        subscriptions=tuple(
            sorted(
                (s for s in info.subscriptions if s.topic != own),
                key=lambda subscription: subscription.topic,
            )
        ),
        orderly=None if orderly is None else orderly == "true",
        started_at_ms=int(started) if started.isdigit() else None,
        queues=None if silent else _keys(held),
        pop_queues=_keys(info.pop_queues),
        in_hand=None if silent else sum(s.cached_msg_count for s in held.values()),
        held={_key(queue): _held(state) for queue, state in held.items()},
        asked_at_ms=report.asked_at_ms,
        answered_at_ms=report.answered_at_ms,
        reason=Reason.NOT_LISTED if silent else None,
    )


def _strategy_name(reported: str) -> str:
    known = reported_strategy(reported)
    return known.name or known.reported


def _keys(queues: Iterable[MessageQueue]) -> tuple[QueueKey, ...]:
    return tuple(sorted(map(_key, queues)))


def _key(queue: MessageQueue) -> QueueKey:
    return queue.topic, queue.broker_name, queue.queue_id


def _held(state: ProcessQueueInfo) -> HeldQueue:
    cached = state.cached_msg_count
    return HeldQueue(
        # Java reads -1 where its store has nothing, and less where that failed.
        committed=state.commit_offset if state.commit_offset >= 0 else None,
        cached=cached,
        first=state.cached_msg_min_offset if cached else None,
        last=state.cached_msg_max_offset if cached else None,
        locked=state.locked,
        last_pull_ms=state.last_pull_timestamp,
        last_consume_ms=state.last_consume_timestamp,
        last_lock_ms=state.last_lock_timestamp,
    )


def _newest(
    group: str, connections: Iterable[ConsumerConnection]
) -> tuple[SubscriptionData, ...]:
    newest: dict[str, SubscriptionData] = {}
    for connection in connections:
        for topic, subscription in connection.subscriptions.items():
            known = newest.get(topic)
            if known is None or known.sub_version < subscription.sub_version:
                newest[topic] = subscription
    # Every client subscribes to the retry topic of its own accord.
    newest.pop(retry_topic(group), None)
    return tuple(newest[topic] for topic in sorted(newest))
