"""How even a division is: pure functions over the loads of the members.

A load is any quantity that adds up and is not negative: queues, messages per second,
lag. All loads zero, or one member, is perfectly even. No loads at all has no score:
None, never 0.

The scale of each score, for n members: `max_over_mean` from 1 to n, `variation` from 0
to sqrt(n - 1), `gini` from 0 to 1 - 1/n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, isfinite, sqrt

from rmqcore.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one division; None where there are no members."""

    max_over_mean: float | None
    variation: float | None
    gini: float | None
    idle: int


def scores(loads: Sequence[float]) -> Scores:
    """Return all scores of the members' loads."""
    return Scores(
        max_over_mean(loads), variation(loads), gini(loads), idle_count(loads)
    )


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
    # A share first: the mean of loads near the smallest float would round to zero.
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
