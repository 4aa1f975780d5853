from __future__ import annotations

import pytest

from dashboard.wording.nearness import matching, nearest

NAMES = ["order-audit", "Order", "reorder", "my-order-log", "payments", "orders-x"]
FOLDED = [name.casefold() for name in NAMES]


def found(typed: str, most: int = 10) -> list[str]:
    return [NAMES[at] for _rank, at in matching(FOLDED, typed, most)[0]]


def test_the_name_itself_comes_first_then_beginnings_parts_and_the_rest() -> None:
    ranked = ["Order", "orders-x", "order-audit", "my-order-log", "reorder"]
    assert found("ORDER") == ranked


def test_every_word_that_was_typed_must_occur_in_any_order() -> None:
    assert found("log order") == ["my-order-log"]
    assert found("order payments") == []


def test_all_matches_are_counted_though_few_are_returned() -> None:
    best, count = matching(FOLDED, "order", 2)
    assert (len(best), count) == (2, 5)


@pytest.mark.parametrize("typed", ["", "  "])
def test_nothing_typed_matches_nothing(typed: str) -> None:
    assert matching(FOLDED, typed, 5) == ([], 0)


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("paymnets", "payments"),
        ("order-adit", "order-audit"),
        ("order", "Order"),
        ("my_order_log", "my-order-log"),
    ],
)
def test_a_slip_leads_to_the_name_that_was_meant(wanted: str, meant: str) -> None:
    assert nearest(NAMES, FOLDED, wanted, 3)[0] == meant


@pytest.mark.parametrize("wanted", ["", "x", "stock-of-the-day", "payments" * 40])
def test_what_resembles_nothing_means_nothing(wanted: str) -> None:
    assert nearest(NAMES, FOLDED, wanted, 3) == []


def test_a_name_is_not_offered_in_place_of_itself() -> None:
    assert "payments" not in nearest(NAMES, FOLDED, "payments", 3)
