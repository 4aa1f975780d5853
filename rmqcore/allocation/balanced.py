"""The balanced plan: the lowest worst load found, with few queues moved.

RocketMQ's strategies count queues; this one weighs them, all topics of the group
together, and starts from the present owners. Method:

1. Find how light the heaviest member can be (`makespan.arrange`), from scratch.
2. Allow `slack` more, since the last per cent costs most of the moves.
3. From the present owners, move few queues until nobody is above that
   (`makespan.repair`). If that fails, take the division of step 1, and give each share
   to the member that holds most of it already.
4. Nobody stays idle while another member has two queues.

RocketMQ has no such strategy: the plan is applied as `CONFIG` lists, which do not
follow joins and leaves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, inf, isfinite
from types import MappingProxyType
from typing import Final

from rmqcore.errors import AllocationError, ArgumentError
from rmqcore.model import MessageQueue, sorted_client_ids, sorted_queues

from .makespan import arrange, repair
from .plan import Plan, shared_ids
from .shelves import NOWHERE, loads_of, lower_bound

BALANCED: Final = "BALANCED"
DEFAULT_SLACK: Final = 0.02
# Repair is a heuristic: a tighter target sometimes succeeds where a looser one fails.
TRIES: Final = (1.0, 0.6, 0.3, 0.0)


@dataclass(frozen=True, slots=True)
class Balanced:
    """A balanced plan and how good it is.

    Loads are in the unit of the weights, or in queues where no queue has any weight. No
    plan can have a worst load below `lower_bound`. `moved` counts queues that had an
    owner among the members and get another.
    """

    plan: Plan
    worst_load: float
    lower_bound: float
    moved: int


def balanced_plan(
    weights: Mapping[MessageQueue, float | None],
    client_ids: Iterable[str],
    *,
    owners: Mapping[MessageQueue, Collection[str]] | None = None,
    slack: float = DEFAULT_SLACK,
    no_worse_than: Iterable[Plan] = (),
) -> Balanced:
    """Return a plan with a light heaviest member and few moves.

    `weights` are messages per second, lag, or whatever is to be even; a queue without
    one weighs as much as the mean of the others, and all weigh the same where all are
    zero.
    The worst load is at most 1 + `slack` times the least found, and at most that of
    each plan given in `no_worse_than` that gives every queue to one of the members.
    Raise AllocationError without members, ArgumentError for a weight or slack that is
    negative or not finite.
    """
    listed = list(client_ids)
    members = sorted_client_ids(set(listed))
    if not members:
        raise AllocationError("cidAll is null or cidAll empty: nobody to divide among")
    if not isfinite(slack) or slack < 0:
        raise ArgumentError(f"slack must be 0 or more, got {slack}")
    queues = sorted_queues(weights)
    filled = _filled([weights[queue] for queue in queues])
    homes = _homes(queues, members, owners or {})
    positions = {queue: at for at, queue in enumerate(queues)}
    known = [_places_in(plan, positions, members) for plan in no_worse_than]
    complete = [each for each in known if NOWHERE not in each]
    places = _places(filled, homes, len(members), slack, complete)
    loads = loads_of(filled, places, len(members))
    return Balanced(
        _plan(queues, members, places, shared_ids(listed)),
        max(loads),
        lower_bound(filled, len(members)),
        sum(
            1
            for home, place in zip(homes, places, strict=True)
            if NOWHERE != home != place
        ),
    )


def _places(
    weights: Sequence[float],
    homes: Sequence[int],
    member_count: int,
    slack: float,
    known: Sequence[list[int]],
) -> list[int]:
    scratch = arrange(weights, member_count)
    least = max(loads_of(weights, scratch, member_count))
    bound = inf
    for places in known:
        worst = max(loads_of(weights, places, member_count))
        bound = min(bound, worst)
        if worst < least:
            scratch, least = places, worst
    for part in TRIES:
        target = min(least * (1 + part * slack), bound)
        repaired = repair(weights, homes, member_count, target)
        if repaired is not None:
            return _without_idle(weights, repaired, member_count)
    renumbered = _renumbered(scratch, homes, member_count)
    return _without_idle(weights, renumbered, member_count)


def _places_in(
    plan: Plan, positions: Mapping[MessageQueue, int], members: Sequence[str]
) -> list[int]:
    """Return who owns each queue; NOWHERE also where a non-member or several do."""
    index = {client_id: at for at, client_id in enumerate(members)}
    places = [NOWHERE] * len(positions)
    several: list[int] = []
    for client_id, share in plan.by_client.items():
        member = index.get(client_id, NOWHERE)
        for item in map(positions.get, share):
            if item is None:
                continue
            if member == NOWHERE or places[item] not in (NOWHERE, member):
                several.append(item)
            places[item] = member
    for item in several:
        places[item] = NOWHERE
    return places


def _filled(weights: Sequence[float | None]) -> list[float]:
    """Return weights with unknown ones set to the mean, or all 1 where none has any."""
    known = []
    for weight in weights:
        if weight is None:
            continue
        if not isfinite(weight) or weight < 0:
            raise ArgumentError(
                f"a weight must be finite and not negative, got {weight}"
            )
        known.append(weight)
    total = fsum(known)
    if not total:
        return [1.0] * len(weights)
    mean = total / len(known)
    return [mean if weight is None else weight for weight in weights]


def _homes(
    queues: Sequence[MessageQueue],
    members: Sequence[str],
    owners: Mapping[MessageQueue, Collection[str]],
) -> list[int]:
    """Return the member that owns each queue now, the first of several."""
    index = {client_id: at for at, client_id in enumerate(members)}
    homes = []
    for queue in queues:
        living = (index[each] for each in owners.get(queue, ()) if each in index)
        homes.append(min(living, default=NOWHERE))
    return homes


def _renumbered(
    places: Sequence[int], homes: Sequence[int], member_count: int
) -> list[int]:
    """Give each share to the member that holds most of it, if that one is free."""
    common = Counter(
        (place, home)
        for place, home in zip(places, homes, strict=True)
        if home != NOWHERE
    )
    new_number: dict[int, int] = {}
    free = set(range(member_count))
    for (place, home), _ in common.most_common():
        if place not in new_number and home in free:
            new_number[place] = home
            free.remove(home)
    rest = iter(sorted(free))
    for place in range(member_count):
        if place not in new_number:
            new_number[place] = next(rest)
    return [new_number[place] for place in places]


def _without_idle(
    weights: Sequence[float], places: Sequence[int], member_count: int
) -> list[int]:
    """Give each idle member a queue of the heaviest member that has two or more."""
    on: list[list[int]] = [[] for _ in range(member_count)]
    for item, place in enumerate(places):
        on[place].append(item)
    loads = loads_of(weights, places, member_count)
    spread = list(places)
    for idle in range(member_count):
        if on[idle]:
            continue
        giver = max(range(member_count), key=lambda at: (len(on[at]) > 1, loads[at]))
        if len(on[giver]) < 2:
            break
        half = loads[giver] / 2
        item = min(on[giver], key=lambda each: abs(weights[each] - half))
        on[giver].remove(item)
        on[idle].append(item)
        loads[giver] -= weights[item]
        loads[idle] = weights[item]
        spread[item] = idle
    return spread


def _plan(
    queues: Sequence[MessageQueue],
    members: Sequence[str],
    places: Sequence[int],
    twice: tuple[str, ...],
) -> Plan:
    shares: list[list[MessageQueue]] = [[] for _ in members]
    for queue, place in zip(queues, places, strict=True):
        shares[place].append(queue)
    by_client = {
        client_id: tuple(share)
        for client_id, share in zip(members, shares, strict=True)
    }
    return Plan(BALANCED, MappingProxyType(by_client), (), twice)
