from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from dashboard.collector import garbage
from dashboard.collector.garbage import GarbageSearch

LEADS = frozenset({"east", "west"})


class Knot:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.own = self


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.collect()
    gc.freeze()


def searching(seconds: float) -> GarbageSearch:
    """A search that always takes so long."""
    times = iter(range(10**6))
    return GarbageSearch(clock=lambda: next(times) * seconds)


def dropped(knots: list[Knot]) -> weakref.ref[Knot]:
    """Drop the only reference to a knot but its own."""
    return weakref.ref(knots.pop())


def test_what_is_dropped_is_found_by_the_next_search() -> None:
    for seconds in (0.0, 1.0):
        search = searching(seconds)
        search.search(LEADS)
        gone = dropped([Knot()])
        search.search(LEADS)
        assert gone() is None


def test_after_a_short_search_nothing_is_skipped() -> None:
    search, knots = searching(garbage.LONG_S / 2), [Knot()]
    frozen = gc.get_freeze_count()
    search.search(LEADS)
    assert gc.get_freeze_count() <= frozen
    gone = dropped(knots)
    search.search(LEADS)
    assert gone() is None


def test_what_survives_a_long_search_is_skipped_until_a_lead_is_given_up() -> None:
    search, knots = searching(garbage.LONG_S * 2), [Knot()]
    search.search(LEADS)
    gone = dropped(knots)
    search.search(LEADS | {"north"})
    assert gone() is not None
    search.search(LEADS)
    assert gone() is None


def test_everything_is_searched_again_after_many_searches() -> None:
    search, knots = searching(garbage.LONG_S * 2), [Knot()]
    search.search(LEADS)
    gone = dropped(knots)
    for _ in range(garbage.ALL_AFTER - 1):
        search.search(LEADS)
    assert gone() is not None
    search.search(LEADS)
    assert gone() is None


def test_python_searches_by_itself_only_for_what_grows_without_end() -> None:
    searching(0.0).begin()
    assert gc.get_threshold() == garbage.AFTER
