"""Arrangements against the optimum, repairs against their target."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rmqcore.allocation import makespan
from rmqcore.allocation.makespan import arrange, repair
from rmqcore.allocation.search import Search
from rmqcore.allocation.shelves import NOWHERE, Shelves, loads_of, lower_bound

from .optimum import least_worst_load, worst_of

some_weights = st.lists(st.integers(0, 30) | st.floats(0, 30), min_size=1, max_size=7)
many_weights = st.lists(st.integers(0, 30), min_size=1, max_size=60)
shelf_counts = st.integers(1, 3)


@settings(max_examples=settings.default.max_examples * 3 // 2)
@given(some_weights, shelf_counts)
def test_few_items_are_arranged_at_the_optimum(
    weights: list[float], shelf_count: int
) -> None:
    found = worst_of(weights, arrange(weights, shelf_count), shelf_count)
    assert found == pytest.approx(least_worst_load(weights, shelf_count))


@given(many_weights, st.integers(1, 8))
def test_many_items_are_within_a_third_of_the_bound(
    weights: list[int], shelf_count: int
) -> None:
    found = worst_of(weights, arrange(weights, shelf_count), shelf_count)
    bound = lower_bound(weights, shelf_count)
    assert bound * (1 - 1e-9) <= found <= bound * 4 / 3 + 1e-9


def test_swaps_better_longest_first() -> None:
    # Longest first alone gives 3+2+2 and 3+2: the optimum is 6 and 6.
    assert worst_of([3, 3, 2, 2, 2], arrange([3, 3, 2, 2, 2], 2), 2) == 6


def test_a_search_ends_at_its_limit() -> None:
    weights = [100 + (7 * at) % 13 / 3 for at in range(24)]
    search = Search(weights, 5, 0.0, [0] * 24)
    places = search.best_places()
    assert search.steps == 0
    assert worst_of(weights, places, 5) < sum(weights)


def test_a_search_keeps_what_it_cannot_better() -> None:
    assert Search([2, 2, 1, 1], 2, 3.0, [0, 1, 1, 0]).best_places() == [0, 1, 1, 0]


def test_within_the_target_nothing_moves() -> None:
    assert repair([4, 3, 2], [0, 1, 1], 2, 5) == [0, 1, 1]


def test_the_lightest_that_is_enough_goes() -> None:
    # Shelf 0 bears 12 and may bear 10: the 3 goes, not the 8, and not the 1.
    assert repair([8, 3, 1, 2], [0, 0, 0, 1], 2, 10) == [0, 1, 0, 1]


def test_what_stands_nowhere_is_placed() -> None:
    places = repair([5, 4, 3], [NOWHERE, 1, NOWHERE], 2, 7)
    assert places == [0, 1, 1]


def test_room_is_made_by_exchange() -> None:
    # The 6 fits nowhere beside 3 + 2, unless it is exchanged for one of them.
    places = repair([6, 3, 2, 3, 2], [NOWHERE, 0, 0, 1, 1], 2, 8)
    assert places is not None
    assert worst_of([6, 3, 2, 3, 2], places, 2) <= 8
    assert (
        sum(
            1
            for home, place in zip([0, 0, 1, 1], places[1:], strict=True)
            if home != place
        )
        == 1
    )


def test_no_way_is_said() -> None:
    assert repair([5, 5, 5], [0, 0, 0], 2, 9) is None
    assert repair([5], [NOWHERE], 1, 4) is None


def test_a_repair_ends_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    crowded = [6, 3, 2, 3, 2, 6, 3, 2, 3, 2]
    homes = [NOWHERE, 0, 0, 1, 1, NOWHERE, 2, 2, 3, 3]
    monkeypatch.setattr(makespan, "STEPS_PER_ITEM", 0)
    assert repair(crowded, homes, 4, 8) is None
    monkeypatch.undo()
    assert repair(crowded, homes, 4, 8) is not None


@settings(max_examples=settings.default.max_examples * 2)
@given(many_weights, st.integers(1, 6), st.floats(1, 2), st.randoms())
def test_a_repair_keeps_its_promise(
    weights: list[int], shelf_count: int, factor: float, rng: object
) -> None:
    homes = [rng.randrange(-1, shelf_count) for _ in weights]  # type: ignore[attr-defined]
    target = lower_bound(weights, shelf_count) * factor
    places = repair(weights, homes, shelf_count, target)
    if places is None:
        assert factor < 4 / 3
        return
    assert set(places) <= set(range(shelf_count))
    assert max(loads_of(weights, places, shelf_count)) <= target * (1 + 1e-8)
    overfull = {
        shelf
        for shelf, load in enumerate(loads_of(weights, homes, shelf_count))
        if load > target
    }
    if not overfull and NOWHERE not in homes:
        assert places == homes


def test_an_item_moves_alone_where_that_is_lighter() -> None:
    shelves = Shelves.of([1, 1, 1], [0, 0, 0], 2)
    assert makespan._relieve(shelves, 1.5)
    assert sorted(shelves.places) == [0, 0, 1]
