"""Who owns each queue of a group: as its clients report, or as they would compute it.

Reported: a client's running info names the queues it holds. A queue that nobody names
is unowned if every member has reported; otherwise its owner is unknown.
Inferred: each member divides the topic's readable queues among all members by its own
strategy, as RocketMQ's clients do without talking to each other. Where members use
different strategies, a queue may come out with no owner or with several, which is what
really happens; where a member does not subscribe to the topic, nobody reads its share
(behaviour E6). Clients never report a strategy's options, so a strategy that needs some
cannot be inferred, and defaults are used for the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from rmqcore.allocation import DEFAULT_STRATEGY, allocate_group, required_options
from rmqcore.errors import AllocationError, ArgumentError
from rmqcore.model.columns import QueueKey, Reason
from rmqcore.model.queue import MessageQueue
from rmqcore.model.snapshot import (
    GroupKind,
    MemberSnapshot,
    Owners,
    OwnerSource,
    StrategySource,
    TopicSnapshot,
)

Clients = tuple[str, ...]

NOT_ASKED = Owners(reason=Reason.NOT_ASKED)


def strategy_of(
    members: Sequence[MemberSnapshot],
) -> tuple[str | None, StrategySource | None, Reason | None]:
    """Return a group's strategy and how it is known, or why it is not."""
    reported = {member.strategy for member in members if member.strategy is not None}
    if len(reported) > 1:
        return None, StrategySource.REPORTED, Reason.MIXED
    if reported:
        return reported.pop(), StrategySource.REPORTED, None
    if not members:
        return None, None, Reason.OFFLINE
    return DEFAULT_STRATEGY, StrategySource.ASSUMED, None


def owners_of(
    kind: GroupKind,
    keys: Sequence[QueueKey],
    members: Sequence[MemberSnapshot],
    inferred: Owners,
) -> Owners:
    """Return the owners of each row, as well as they are known."""
    if kind is GroupKind.OFFLINE:
        return nobody(len(keys))
    if kind is GroupKind.MIXED:
        return inferred
    silent = {member.client_id for member in members if member.queues is None}
    if len(silent) == len({member.client_id for member in members}):
        return inferred
    holders = _holders(members)
    rows = [
        _row(holders.get(key, ()), silent, inferred, row)
        for row, key in enumerate(keys)
    ]
    return Owners(tuple(row[0] for row in rows), tuple(row[1] for row in rows))


def _holders(members: Iterable[MemberSnapshot]) -> dict[QueueKey, Clients]:
    holders: dict[QueueKey, Clients] = {}
    for member in members:
        for key in (*(member.queues or ()), *member.pop_queues):
            # Named twice by two processes with one client id: both hold it.
            holders[key] = (*holders.get(key, ()), member.client_id)
    return holders


def _row(
    holding: Clients, silent: set[str], inferred: Owners, row: int
) -> tuple[Clients, OwnerSource | None]:
    if holding or not silent:
        return holding, OwnerSource.REPORTED
    if inferred.reason is not None:
        return (), None
    return (
        tuple(client for client in inferred.by_row[row] if client in silent),
        OwnerSource.INFERRED,
    )


@lru_cache(maxsize=1024)
def nobody(length: int) -> Owners:
    """Return the owners of a group without members."""
    return Owners(((),) * length, (None,) * length)


def infer(
    group: str,
    kind: GroupKind,
    keys: Sequence[QueueKey],
    members: Sequence[MemberSnapshot],
    *,
    topics: Mapping[str, TopicSnapshot],
    subscribed: frozenset[str],
    withdrawn: Collection[str] = (),
) -> Owners:
    """Return the owners that the members' strategies give.

    `subscribed` are the topics that the group as a whole subscribes to; a member's own
    subscriptions count where it has reported them. Queues of `withdrawn` brokers are no
    longer in any route, so no member is given them.
    """
    if kind is GroupKind.OFFLINE:
        return nobody(len(keys))
    if kind is GroupKind.SHARED_POP:
        return Owners(reason=Reason.SHARED)
    if kind is GroupKind.MIXED:
        return Owners(reason=Reason.MIXED)
    if kind is GroupKind.ASSIGNED_BY_HAND:
        return NOT_ASKED
    everyone = tuple(member.client_id for member in members)
    if kind is GroupKind.BROADCASTING:
        return Owners((everyone,) * len(keys), (OwnerSource.INFERRED,) * len(keys))
    if not all(map(_can_be_simulated, members)):
        return Owners(reason=Reason.UNKNOWN_STRATEGY)
    owners: dict[QueueKey, list[str]] = {}
    for topic in sorted({key[0] for key in keys} & subscribed & topics.keys()):
        queues = [
            MessageQueue(*key)
            for key in topics[topic].readable()
            if key[1] not in withdrawn
        ]
        readers = [member for member in members if _reads(member, topic)]
        try:
            if queues:
                _divide(group, queues, readers, everyone, owners)
        except AllocationError:
            # Members fail on what they are given, such as an empty client id.
            return Owners(reason=Reason.UNKNOWN_STRATEGY)
    # Rows with the same owners share them.
    alike: dict[Clients, Clients] = {}
    rows = (tuple(owners.get(key, ())) for key in keys)
    return Owners(
        tuple(alike.setdefault(row, row) for row in rows),
        (OwnerSource.INFERRED,) * len(keys),
    )


def _reads(member: MemberSnapshot, topic: str) -> bool:
    own = member.subscriptions
    return own is None or any(each.topic == topic for each in own)


def _divide(
    group: str,
    queues: Sequence[MessageQueue],
    readers: Sequence[MemberSnapshot],
    everyone: Clients,
    owners: dict[QueueKey, list[str]],
) -> None:
    plans = {
        strategy: allocate_group(
            strategy, group=group, queues=queues, client_ids=everyone
        )
        for strategy in {reader.strategy or DEFAULT_STRATEGY for reader in readers}
    }
    for reader in readers:
        plan = plans[reader.strategy or DEFAULT_STRATEGY]
        for queue in plan.by_client[reader.client_id]:
            key = (queue.topic, queue.broker_name, queue.queue_id)
            owners.setdefault(key, []).append(reader.client_id)


def _can_be_simulated(member: MemberSnapshot) -> bool:
    if member.strategy is None:
        return True
    try:
        return not required_options(member.strategy)
    except ArgumentError:
        return False
