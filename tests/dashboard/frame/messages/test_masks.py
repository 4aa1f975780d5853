"""Which fields are masked, and that nothing escapes."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.frame.messages.masks import MASKED, Masks

VALUE = {
    "Card": "4111",
    "payer": {"phone": "139", "card": {"n": 1}},
    "items": [{"card": 2, "price": 3}],
}


def test_a_name_masks_every_field_of_that_name() -> None:
    found = Masks(["card"]).apply(VALUE)
    assert found.value == {
        "Card": MASKED,
        "payer": {"phone": "139", "card": MASKED},
        "items": [{"card": MASKED, "price": 3}],
    }
    assert found.rules == ("card",)


@pytest.mark.parametrize("rule", ["payer.phone", "$.payer.phone", "PAYER.*"])
def test_a_path_masks_from_the_top(rule: str) -> None:
    shown = Masks([rule]).apply(VALUE).value
    assert shown["payer"]["phone"] == MASKED
    assert shown["items"] == VALUE["items"]


def test_a_star_stands_for_places_in_a_list() -> None:
    shown = Masks(["items.*.price"]).apply(VALUE).value
    assert shown["items"] == [{"card": 2, "price": MASKED}]


def test_rules_that_meet_nothing_are_not_named() -> None:
    assert Masks(["iban"]).apply(VALUE).rules == ()
    assert not Masks([])


def test_nothing_escapes_by_its_depth() -> None:
    deep: Any = {"card": "4111"}
    for _ in range(300):
        deep = {"in": deep}
    assert "4111" not in str(Masks(["card"]).apply(deep).value)


def test_properties_are_masked_by_name() -> None:
    shown = Masks(["token"]).properties({"TOKEN": "x", "KEYS": "k"}).value
    assert shown == {"TOKEN": MASKED, "KEYS": "k"}
