"""A bounded search for the arrangement whose fullest shelf is lightest.

Exact for about a dozen items; beyond that, it improves the arrangement it is given
within its steps, or returns it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .shelves import ROUNDING, loads_of

SEARCH_STEPS: Final = 20_000


class Search:
    """Depth-first search of all arrangements, heaviest item first, within a step limit.

    Branches that cannot beat the best so far are cut, and of shelves with equal loads
    only the first is tried.
    """

    __slots__ = ("best", "goal", "loads", "order", "places", "steps", "weights")

    def __init__(
        self,
        weights: Sequence[float],
        shelf_count: int,
        goal: float,
        places: Sequence[int],
    ) -> None:
        self.weights = weights
        self.order = sorted(range(len(weights)), key=weights.__getitem__, reverse=True)
        self.goal = goal
        self.loads = [0.0] * shelf_count
        self.places = list(places)
        self.best = (max(loads_of(weights, places, shelf_count)), list(places))
        self.steps = SEARCH_STEPS

    def best_places(self) -> list[int]:
        self._place(0)
        return self.best[1]

    def _place(self, depth: int) -> None:
        if depth == len(self.order):
            self.best = (max(self.loads), list(self.places))
            return
        item = self.order[depth]
        weight = self.weights[item]
        tried: set[float] = set()
        for shelf in sorted(range(len(self.loads)), key=self.loads.__getitem__):
            load = self.loads[shelf]
            too_heavy = load + weight >= self.best[0] * (1 - ROUNDING)
            if too_heavy or self.steps == 0 or self.best[0] <= self.goal:
                return
            if load in tried:
                continue
            tried.add(load)
            self.steps -= 1
            self.loads[shelf] = load + weight
            self.places[item] = shelf
            self._place(depth + 1)
            self.loads[shelf] = load
