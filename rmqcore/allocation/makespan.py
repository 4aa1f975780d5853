"""Putting weights on shelves so that the fullest is as light as possible.

This is scheduling on identical machines. Finding the optimum is NP-hard; this module
has:

- `arrange`: longest weight first on the lightest shelf (at most 4/3 of the optimum),
  then moves and swaps off the fullest shelf while they help; then, for few items, a
  bounded search that is exact for about a dozen.
- `repair`: starts from where items stand and moves few of them until no shelf is
  heavier than a target; or reports that it found no way.

Cost: n log n plus the steps taken, each of which looks at a few light shelves.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from heapq import heapify, heappop, heappush, heapreplace
from typing import Final

from .search import Search
from .shelves import NOWHERE, ROUNDING, Shelves, lower_bound

# A step looks at this many of the lightest shelves; more cost time and gain little.
CANDIDATES: Final = 8
STEPS_PER_ITEM: Final = 4
# Above this many items, the search seldom gains anything within its steps (20 ms).
SEARCHED_ITEMS: Final = 24
# Many items are at the bound when they are within a thousandth of it.
NEAR: Final = 1e-3


def arrange(weights: Sequence[float], shelf_count: int) -> list[int]:
    """Return a shelf for each item; the fullest is as light as was found."""
    shelves = Shelves.of(weights, _longest_first(weights, shelf_count), shelf_count)
    few = len(weights) <= SEARCHED_ITEMS
    goal = lower_bound(weights, shelf_count) * (1 + (ROUNDING if few else NEAR))
    for _ in range(2 * len(weights)):
        if not _relieve(shelves, goal):
            break
    if few and max(shelves.loads) > goal:
        return Search(weights, shelf_count, goal, shelves.places).best_places()
    return shelves.places


def repair(
    weights: Sequence[float], places: Sequence[int], shelf_count: int, target: float
) -> list[int] | None:
    """Return places with no shelf above the target and few items moved, or None.

    Overfull shelves give away as few items as will do; these and the items that stand
    nowhere go to the lightest shelves, heaviest first, in exchange for lighter items
    where needed.
    """
    limit = target * (1 + ROUNDING)
    shelves = Shelves.of(weights, places, shelf_count)
    in_hand = [
        (-weights[item], item) for item, place in enumerate(places) if place == NOWHERE
    ]
    for shelf in range(shelf_count):
        excess = shelves.loads[shelf] - limit
        for item in _few_that_weigh(excess, shelves.items[shelf]) or ():
            shelves.take(item)
            in_hand.append((-weights[item], item))
    heapify(in_hand)
    # Exchanges end by themselves, since what comes back is lighter, but perhaps late.
    for _ in range(STEPS_PER_ITEM * len(weights)):
        if not in_hand:
            break
        _, item = heappop(in_hand)
        shelf = shelves.lightest(1)[0]
        if shelves.loads[shelf] + weights[item] > limit:
            exchange = _exchange(shelves, item, limit)
            if exchange is None:
                return None
            shelf, given = exchange
            for other in given:
                shelves.take(other)
                heappush(in_hand, (-weights[other], other))
        shelves.put(item, shelf)
    return None if in_hand else shelves.places


def _longest_first(weights: Sequence[float], shelf_count: int) -> list[int]:
    places = [NOWHERE] * len(weights)
    lightest = [(0.0, shelf) for shelf in range(shelf_count)]
    for item in sorted(range(len(weights)), key=weights.__getitem__, reverse=True):
        load, shelf = lightest[0]
        places[item] = shelf
        heapreplace(lightest, (load + weights[item], shelf))
    return places


def _relieve(shelves: Shelves, goal: float) -> bool:
    """Make the fullest shelf lighter by one move or swap; False where none helps."""
    full = max(range(len(shelves.loads)), key=shelves.loads.__getitem__)
    top = shelves.loads[full]
    if top <= goal:
        return False
    best = top * (1 - ROUNDING)
    step: tuple[int, int, int | None] | None = None
    for shelf in shelves.lightest(CANDIDATES):
        if shelf == full:
            continue
        for weight, item in shelves.items[full]:
            for other_weight, other in _partners(shelves, shelf, weight, top):
                change = weight - other_weight
                worst = max(top - change, shelves.loads[shelf] + change)
                if worst < best:
                    best, step = worst, (item, shelf, other)
    if step is None:
        return False
    item, shelf, partner = step
    shelves.take(item)
    if partner is not None:
        shelves.take(partner)
        shelves.put(partner, full)
    shelves.put(item, shelf)
    return True


def _partners(
    shelves: Shelves, shelf: int, weight: float, top: float
) -> list[tuple[float, int | None]]:
    """Return no item, and the items whose exchange comes nearest to even shelves."""
    even = weight - (top - shelves.loads[shelf]) / 2
    on = shelves.items[shelf]
    at = bisect_left(on, (even, -1))
    return [(0.0, None), *on[max(0, at - 1) : at + 1]]


def _few_that_weigh(
    excess: float, items: Sequence[tuple[float, int]]
) -> list[int] | None:
    """Return a few items that together weigh the excess; None if even all do not.

    Takes the lightest item that is enough by itself, else the heaviest, and repeats.
    """
    left = list(items)
    few: list[int] = []
    while excess > 0:
        if not left:
            return None
        at = min(bisect_left(left, (excess, -1)), len(left) - 1)
        weight, item = left.pop(at)
        excess -= weight
        few.append(item)
    return few


def _exchange(
    shelves: Shelves, item: int, limit: float
) -> tuple[int, list[int]] | None:
    """Return a shelf that can hold the item once it gives lighter ones away."""
    weight = shelves.weights[item]
    best: tuple[int, list[int]] | None = None
    for shelf in shelves.lightest(CANDIDATES):
        on = shelves.items[shelf]
        lighter = on[: bisect_left(on, (weight, -1))]
        given = _few_that_weigh(shelves.loads[shelf] + weight - limit, lighter)
        if given is not None and (best is None or len(given) < len(best[1])):
            best = shelf, given
    return best
