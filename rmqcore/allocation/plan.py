"""Plans: who takes what in a whole group, and what changes between two plans.

A plan says nothing about the past or about loads: it is the outcome of a division.
A queue may have no owner, or several (only where lists name it twice: `CONFIG`, or
owners as reported by clients).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue, sorted_client_ids, sorted_queues


@dataclass(frozen=True, slots=True)
class Plan:
    """A division of queues among the members of a group.

    `by_client` has every member in the group's order, including those with nothing.
    `unassigned` are the queues that nobody takes. `shared_ids` are client ids listed
    more than once: each process behind such an id takes the whole share (behaviour
    A5b).
    """

    strategy: str
    by_client: Mapping[str, tuple[MessageQueue, ...]]
    unassigned: tuple[MessageQueue, ...] = ()
    shared_ids: tuple[str, ...] = ()
    _owners: dict[MessageQueue, tuple[str, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def owners(self, queue: MessageQueue) -> tuple[str, ...]:
        """Return the client ids that take a queue; empty where nobody does."""
        return self.by_queue.get(queue, ())

    def owner(self, queue: MessageQueue) -> str | None:
        """Return the only owner of a queue, or None; raise where there are several."""
        owners = self.owners(queue)
        if len(owners) > 1:
            raise ArgumentError(f"{queue} has {len(owners)} owners: {owners}")
        return owners[0] if owners else None

    @property
    def by_queue(self) -> Mapping[MessageQueue, tuple[str, ...]]:
        """The owners of each queue that has any; computed at the first use."""
        if not self._owners:
            self._owners.update(_owners_of(self.by_client))
        return MappingProxyType(self._owners)

    @property
    def counts(self) -> dict[str, int]:
        """How many queues each member takes."""
        return {client_id: len(share) for client_id, share in self.by_client.items()}

    @property
    def idle(self) -> tuple[str, ...]:
        """The members that take nothing."""
        return tuple(
            client_id for client_id, share in self.by_client.items() if not share
        )

    def as_config(self) -> dict[str, list[MessageQueue]]:
        """Return the plan as the `config` option of the `CONFIG` strategy."""
        return {client_id: list(share) for client_id, share in self.by_client.items()}


class Move(NamedTuple):
    """A queue whose owners differ between two plans; an empty side means nobody."""

    queue: MessageQueue
    from_clients: tuple[str, ...]
    to_clients: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanDiff:
    """What changes from one plan to the next, queues in RocketMQ's order.

    `moved` queues had an owner and have another, `gained` had none, `lost` have none
    now. Queues that only one of the plans knows are in `added` and `removed`, not
    moved. `joined` and `left` are members.
    """

    moved: tuple[Move, ...]
    gained: tuple[Move, ...]
    lost: tuple[Move, ...]
    added: tuple[MessageQueue, ...]
    removed: tuple[MessageQueue, ...]
    joined: tuple[str, ...]
    left: tuple[str, ...]
    kept: int

    @property
    def is_empty(self) -> bool:
        """Whether both plans divide the same queues in the same way."""
        return not (
            self.moved
            or self.gained
            or self.lost
            or self.added
            or self.removed
            or self.joined
            or self.left
        )


def diff(before: Plan, after: Plan) -> PlanDiff:
    """Return what changes from one plan to another."""
    old, new = before.by_queue, after.by_queue
    old_queues = {*old, *before.unassigned}
    new_queues = {*new, *after.unassigned}
    changed = [
        Move(queue, old.get(queue, ()), new.get(queue, ()))
        for queue in sorted_queues(old_queues & new_queues)
        if old.get(queue, ()) != new.get(queue, ())
    ]
    return PlanDiff(
        moved=tuple(m for m in changed if m.from_clients and m.to_clients),
        gained=tuple(m for m in changed if not m.from_clients),
        lost=tuple(m for m in changed if not m.to_clients),
        added=tuple(sorted_queues(new_queues - old_queues)),
        removed=tuple(sorted_queues(old_queues - new_queues)),
        joined=_not_in(after.by_client, before.by_client),
        left=_not_in(before.by_client, after.by_client),
        kept=len(old_queues & new_queues) - len(changed),
    )


def plan_of_owners(
    owners: Mapping[MessageQueue, Collection[str]],
    client_ids: Iterable[str],
    *,
    strategy: str = "",
) -> Plan:
    """Return the plan that a table of owners describes, such as one seen live.

    Owners that are not among the client ids are still members: somebody holds the
    queue.
    """
    listed = list(client_ids)
    everyone = {*listed}.union(*owners.values())
    shares: dict[str, list[MessageQueue]] = {
        client_id: [] for client_id in sorted_client_ids(everyone)
    }
    unassigned = []
    for queue in sorted_queues(owners):
        for client_id in dict.fromkeys(owners[queue]):
            shares[client_id].append(queue)
        if not owners[queue]:
            unassigned.append(queue)
    return Plan(
        strategy,
        MappingProxyType({key: tuple(share) for key, share in shares.items()}),
        tuple(unassigned),
        shared_ids(listed),
    )


def shared_ids(client_ids: Sequence[str]) -> tuple[str, ...]:
    """Return the client ids that are listed more than once, each once."""
    if len(set(client_ids)) == len(client_ids):
        return ()
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for client_id in client_ids:
        if client_id in seen:
            twice[client_id] = None
        seen.add(client_id)
    return tuple(twice)


def _owners_of(
    by_client: Mapping[str, tuple[MessageQueue, ...]],
) -> dict[MessageQueue, tuple[str, ...]]:
    owners: dict[MessageQueue, tuple[str, ...]] = {}
    for client_id, share in by_client.items():
        alone = (client_id,)
        for queue in share:
            before = owners.setdefault(queue, alone)
            if client_id not in before:
                owners[queue] = (*before, client_id)
    return owners


def _not_in(these: Iterable[str], those: Collection[str]) -> tuple[str, ...]:
    return tuple(client_id for client_id in these if client_id not in those)
