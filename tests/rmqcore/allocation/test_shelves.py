"""Items on shelves, and the bound that no arrangement beats."""

from __future__ import annotations

import pytest

from rmqcore.allocation.shelves import NOWHERE, Shelves, loads_of, lower_bound


@pytest.mark.parametrize(
    ("weights", "shelf_count", "bound"),
    [
        ([], 3, 0),
        ([5], 3, 5),
        ([1, 1, 1, 1], 2, 2),
        # Five equal items on two shelves: one shelf has three.
        ([1, 1, 1, 1, 1], 2, 3),
        # Three items of four and more on two shelves: two of them meet.
        ([6, 5, 4], 2, 9),
        ([9, 1, 1, 1], 2, 9),
        ([3, 3, 2, 2, 2], 2, 6),
    ],
)
def test_bound(weights: list[float], shelf_count: int, bound: float) -> None:
    assert lower_bound(weights, shelf_count) == bound


def test_loads() -> None:
    assert loads_of([1, 2, 4, 8], [0, 2, NOWHERE, 0], 3) == [9, 0, 2]


def test_put_and_take() -> None:
    shelves = Shelves.of([3, 1, 2], [NOWHERE] * 3, 2)
    shelves.put(0, 0)
    shelves.put(1, 1)
    shelves.put(2, 1)
    assert shelves.loads == [3, 3]
    assert shelves.items[1] == [(1, 1), (2, 2)]
    shelves.take(2)
    assert shelves.places == [0, 1, NOWHERE]
    assert shelves.loads == [3, 1]
    assert shelves.lightest(1) == [1]


def test_lightest_forgets_old_loads() -> None:
    shelves = Shelves.of([5, 1, 1, 1], [0, 1, 2, 3], 4)
    shelves.take(3)
    shelves.put(3, 0)
    shelves.take(0)
    assert shelves.loads == [1, 1, 1, 0]
    assert shelves.lightest(2) == [3, 0]
    assert shelves.lightest(3) == [3, 0, 1]
    assert shelves.lightest(9) == [3, 0, 1, 2]


def test_an_emptied_shelf_weighs_nothing() -> None:
    shelves = Shelves.of([0.1, 0.2, 0.3], [NOWHERE] * 3, 1)
    for item in range(3):
        shelves.put(item, 0)
    for item in range(3):
        shelves.take(item)
    assert shelves.loads == [0.0]
