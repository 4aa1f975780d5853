"""Slow and certain: optima by trying everything, to compare the fast ways with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product


def least_worst_load(weights: Sequence[float], shelf_count: int) -> float:
    return min(
        worst_of(weights, places, shelf_count)
        for places in product(range(shelf_count), repeat=len(weights))
    )


def fewest_moves(
    weights: Sequence[float], homes: Sequence[int], shelf_count: int, limit: float
) -> int:
    return min(
        sum(1 for home, place in zip(homes, places, strict=True) if -1 != home != place)
        for places in product(range(shelf_count), repeat=len(weights))
        if worst_of(weights, places, shelf_count) <= limit
    )


def worst_of(
    weights: Sequence[float], places: Sequence[int], shelf_count: int
) -> float:
    loads = [0.0] * shelf_count
    for weight, place in zip(weights, places, strict=True):
        loads[place] += weight
    return max(loads)
