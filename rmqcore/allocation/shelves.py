"""Items with weights on shelves, and the least load that the fullest shelf can have.

Items are numbered 0 to n - 1, shelves 0 to m - 1; an item on no shelf is at `NOWHERE`.
Putting and taking cost the logarithm of the shelf's items and of all steps so far;
finding the lightest shelf is cheap.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import accumulate
from typing import Final

NOWHERE: Final = -1
# Sums of floats in another order differ by a few ulps: that does not count as heavier.
ROUNDING: Final = 1e-9


@dataclass(slots=True)
class Shelves:
    """Items on shelves, each shelf sorted by weight, the shelves in a heap by load.

    A heap entry is outdated where its load is no longer that of its shelf.
    """

    weights: Sequence[float]
    places: list[int]
    items: list[list[tuple[float, int]]]
    loads: list[float]
    heap: list[tuple[float, int]]

    @classmethod
    def of(
        cls, weights: Sequence[float], places: Sequence[int], shelf_count: int
    ) -> Shelves:
        """Return shelves with the items at the given places."""
        items: list[list[tuple[float, int]]] = [[] for _ in range(shelf_count)]
        for item, place in enumerate(places):
            if place != NOWHERE:
                items[place].append((weights[item], item))
        for on in items:
            on.sort()
        loads = loads_of(weights, places, shelf_count)
        heap = [(load, shelf) for shelf, load in enumerate(loads)]
        heapify(heap)
        return cls(weights, list(places), items, loads, heap)

    def put(self, item: int, shelf: int) -> None:
        self.places[item] = shelf
        insort(self.items[shelf], (self.weights[item], item))
        self._weigh(shelf, self.weights[item])

    def take(self, item: int) -> None:
        shelf = self.places[item]
        self.places[item] = NOWHERE
        on = self.items[shelf]
        del on[bisect_left(on, (self.weights[item], item))]
        self._weigh(shelf, -self.weights[item])

    def lightest(self, count: int) -> list[int]:
        """Return the shelves with the least load, lightest first."""
        if count >= len(self.loads):
            return sorted(range(len(self.loads)), key=self.loads.__getitem__)
        found: list[tuple[float, int]] = []
        while len(found) < count:
            entry = heappop(self.heap)
            if entry[0] == self.loads[entry[1]] and entry not in found:
                found.append(entry)
        for entry in found:
            heappush(self.heap, entry)
        return [shelf for _, shelf in found]

    def _weigh(self, shelf: int, change: float) -> None:
        # A shelf without items weighs nothing, whatever rounding left.
        load = self.loads[shelf] + change if self.items[shelf] else 0.0
        self.loads[shelf] = load
        heappush(self.heap, (load, shelf))


def lower_bound(weights: Sequence[float], shelf_count: int) -> float:
    """Return a load that the fullest shelf reaches in every arrangement.

    It is the mean or, if larger for some k, the weight of the lightest k + 1 of the k *
    m + 1 heaviest items, since some shelf has k + 1 of these.
    """
    ordered = sorted(weights, reverse=True)
    sums = [0.0, *accumulate(ordered)]
    bound = sums[-1] / shelf_count
    for k in range((len(ordered) - 1) // shelf_count + 1):
        last = k * shelf_count + 1
        bound = max(bound, sums[last] - sums[last - k - 1])
    return bound


def loads_of(
    weights: Sequence[float], places: Sequence[int], shelf_count: int
) -> list[float]:
    """Return the load of each shelf; items that stand nowhere count for no shelf."""
    loads = [0.0] * shelf_count
    for weight, place in zip(weights, places, strict=True):
        if place != NOWHERE:
            loads[place] += weight
    return loads
