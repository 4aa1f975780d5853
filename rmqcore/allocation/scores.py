"""How even a division is: pure functions over the loads of the members.

A load is any quantity that adds up and is not negative: queues, messages per second,
lag. If all loads are zero, or there is one member, the division is perfectly even.
Without any loads there is no score: None, never 0.

Loads of members come from queues, and say how even the division is only when the load
and the owner of every queue are known: when half of the queues have no known owner, the
rest may look perfectly even. That rule is applied in two places only: in `member_loads`
for a division by queues, which the collector asks for thousands of groups, and in
`share_loads` for a division by members.

The scale of each score, for n members: `max_over_mean` from 1 to n, `variation` from 0
to sqrt(n - 1), `gini` from 0 to 1 - 1/n.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite, sqrt
from typing import cast

from rmqcore.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one division; None where it has no members, or is not known."""

    max_over_mean: float | None
    variation: float | None
    gini: float | None
    idle: int | None


def scores(loads: Sequence[float]) -> Scores:
    """Return all scores of the members' loads."""
    return Scores(
        max_over_mean(loads), variation(loads), gini(loads), idle_count(loads)
    )


def member_loads(
    values: Sequence[float | None],
    owners: Sequence[Collection[str]],
    members: Iterable[str],
) -> list[float] | None:
    """Return the load of each member; None where a value or an owner is not known.

    `values` and `owners` are those of the queues: a value is None where it is not
    known, and owners are empty where there are none or they are not known. `members`
    has a client id once for each process, as each takes the whole share; owners not in
    `members` come last. A queue of several owners is a load for each of them.
    """
    loads = dict.fromkeys(ids := list(members), 0.0)
    listed = len(loads)
    for value, holders in zip(values, owners, strict=True):
        if value is None or not holders:
            return None
        # Most queues have one owner; only several can repeat a client id.
        for holder in holders if len(holders) == 1 else dict.fromkeys(holders):
            loads[holder] = loads.get(holder, 0.0) + value
    others = list(loads.values())[listed:]
    return [loads[client_id] for client_id in ids] + others


def share_loads(
    values: Sequence[float | None],
    shares: Mapping[str, Sequence[int]],
    members: Iterable[str],
) -> list[float] | None:
    """Return the load of each member; None where a value or an owner is not known.

    As `member_loads`, for what each member has: positions in `values`. A queue in no
    share has no known owner; one that a share has twice counts once in it.
    """
    held: set[int] = set().union(*shares.values())
    if None in values or len(held) < len(values):
        return None
    known = cast("Sequence[float]", values)
    once = sum(map(len, shares.values())) == len(held)
    loads = {
        client_id: fsum(map(known.__getitem__, share if once else set(share)))
        for client_id, share in shares.items()
    }
    ids = list(members)
    listed = set(ids)
    others = [each for each in loads if shares[each] and each not in listed]
    return [loads.get(client_id, 0.0) for client_id in [*ids, *others]]


def skew(
    lags: Sequence[float | None],
    owners: Sequence[Collection[str]],
    members: Iterable[str],
) -> float | None:
    """Return the largest lag of a member divided by the mean lag.

    None where nothing waits, and where `member_loads` knows no loads.
    """
    loads = member_loads(lags, owners, members)
    return max_over_mean(loads) if loads and any(loads) else None


def max_over_mean(loads: Sequence[float]) -> float | None:
    """Return the largest load over the mean load: 1 is even."""
    total = _checked_total(loads)
    if not loads:
        return None
    return max(loads) * len(loads) / total if total else 1.0


def variation(loads: Sequence[float]) -> float | None:
    """Return the coefficient of variation: standard deviation over mean, 0 is even.

    The deviation is that of the whole population, since all members are known.
    """
    total = _checked_total(loads)
    if not loads:
        return None
    if not total:
        return 0.0
    # Shares come first: the mean of loads near the smallest float rounds to zero.
    count = len(loads)
    return sqrt(fsum((load / total * count - 1.0) ** 2 for load in loads) / count)


def gini(loads: Sequence[float]) -> float | None:
    """Return the Gini coefficient: 0 is even, 1 - 1/n is one member with everything."""
    total = _checked_total(loads)
    if not loads:
        return None
    if not total:
        return 0.0
    count = len(loads)
    ranked = fsum(
        rank * (load / total) for rank, load in enumerate(sorted(loads), start=1)
    )
    # Rounding may leave a few ulps below zero for equal loads.
    return max(0.0, 2.0 * ranked / count - (count + 1) / count)


def idle_count(loads: Sequence[float]) -> int:
    """Return how many members have no load."""
    _checked_total(loads)
    return sum(1 for load in loads if load == 0)


def _checked_total(loads: Sequence[float]) -> float:
    for load in loads:
        if not isfinite(load) or load < 0:
            raise ArgumentError(f"a load must be finite and not negative, got {load}")
    return fsum(loads)
