"""The two entry points: one member's share, and the shares of a whole group.

`allocate` is what a client calls in its rebalance, with lists as it has them.
`allocate_group` sorts them first, as the rebalance does, and computes every member's
share in one pass; `allocate_topics` does so for each topic of a group separately, which
is how RocketMQ divides several topics, and prepares the members only once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from rmqcore.errors import AllocationError, ArgumentError
from rmqcore.model import MessageQueue, sorted_client_ids, sorted_queues

from .config import Config
from .plan import Plan, shared_ids
from .registry import make_strategy
from .strategy import AllocateStrategy, Shares


def allocate(
    strategy: str | AllocateStrategy,
    *,
    group: str,
    client_id: str,
    queues: Sequence[MessageQueue],
    client_ids: Sequence[str],
    **options: Any,
) -> list[MessageQueue]:
    """Return the queues that one member takes, as RocketMQ's Java classes compute it.

    The lists are taken in the order given: sort them first where members must agree.
    A client id that is not among the client ids takes nothing, with a warning. Raise
    AllocationError where Java's class refuses the input, and ArgumentError for a
    strategy or option that cannot be used.
    """
    chosen = _strategy(strategy, options)
    _refuse_text("client_ids", client_ids)
    return chosen.allocate(group, client_id, queues, client_ids)


def allocate_group(
    strategy: str | AllocateStrategy,
    *,
    group: str,
    queues: Iterable[MessageQueue],
    client_ids: Iterable[str],
    **options: Any,
) -> Plan:
    """Return what every member of a group takes of these queues, divided as one list.

    Input may come in any order. Each share equals what `allocate` returns for that
    member from sorted lists; errors are those that `allocate` raises for any of them.
    """
    chosen = _strategy(strategy, options)
    members = _members(group, client_ids)
    ordered = _queues(group, queues)
    return _plan(chosen, members, ordered, chosen.divider(members)(ordered))


def allocate_topics(
    strategy: str | AllocateStrategy,
    *,
    group: str,
    queues: Iterable[MessageQueue],
    client_ids: Iterable[str],
    **options: Any,
) -> Plan:
    """Return what every member takes of all topics, each divided by itself.

    As in RocketMQ, a topic is divided among all members, including those that do not
    subscribe to it (behaviour E6). `CONFIG` lists count once, not once per topic.
    """
    chosen = _strategy(strategy, options)
    members = _members(group, client_ids)
    ordered = _queues(group, queues)
    divide = chosen.divider(members)
    if isinstance(chosen, Config) or not ordered:
        return _plan(chosen, members, ordered, divide(ordered))
    shares: Shares = {}
    for _, topic_queues in groupby(ordered, key=attrgetter("topic")):
        for client_id, part in divide(list(topic_queues)).items():
            shares.setdefault(client_id, []).extend(part)
    return _plan(chosen, members, ordered, shares)


def _strategy(
    strategy: str | AllocateStrategy, options: dict[str, Any]
) -> AllocateStrategy:
    if isinstance(strategy, AllocateStrategy):
        if options:
            raise ArgumentError(
                f"option {min(options)!r} beside a strategy that has been built already"
            )
        return strategy
    if not isinstance(strategy, str):
        raise ArgumentError(f"strategy must be a name, got {strategy!r}")
    return make_strategy(strategy, options)


def _members(group: str, client_ids: Iterable[str]) -> list[str]:
    _refuse_text("client_ids", client_ids)
    listed = list(client_ids)
    for client_id in listed:
        if not isinstance(client_id, str):
            raise AllocationError(
                f"a client id of group {group} is missing (null): got {client_id!r}"
            )
    return sorted_client_ids(listed)


def _queues(group: str, queues: Iterable[MessageQueue]) -> list[MessageQueue]:
    listed = list(queues)
    for queue in listed:
        if not isinstance(queue, MessageQueue):
            raise ArgumentError(
                f"queues of group {group} must be MessageQueue, one is {queue!r}"
            )
    return sorted_queues(listed)


def _refuse_text(what: str, values: object) -> None:
    if isinstance(values, str):
        raise ArgumentError(f"{what} must be a list of client ids, got {values!r}")


def _plan(
    strategy: AllocateStrategy,
    members: list[str],
    queues: list[MessageQueue],
    shares: Shares,
) -> Plan:
    by_client = {member: tuple(shares.get(member, ())) for member in members}
    taken: set[MessageQueue] = set()
    for share in shares.values():
        taken.update(share)
    left = () if taken.issuperset(queues) else (q for q in queues if q not in taken)
    return Plan(
        strategy.name,
        MappingProxyType(by_client),
        tuple(left),
        shared_ids(members),
    )
