"""Rooms by name and by prefix."""

from __future__ import annotations

import pytest

from dashboard.whatif.model import RoomRule
from rmqcore.errors import ArgumentError

RULE = RoomRule("@", (("broker-x", "sh"),))


@pytest.mark.parametrize(
    ("name", "room"),
    [
        ("hz@b", "hz"),
        ("hz@b@c", "hz"),
        ("broker-x", "sh"),
        ("plain", None),
        ("@b", None),
    ],
)
def test_room_of_a_name(name: str, room: str | None) -> None:
    assert RULE.rooms_of((name,)) == ({name: room} if room else {})


def test_a_name_listed_goes_before_its_prefix() -> None:
    assert RoomRule("-", (("hz-1", "sh"),)).rooms_of(("hz-1", "hz-2")) == {
        "hz-1": "sh",
        "hz-2": "hz",
    }


def test_a_rule_that_says_nothing() -> None:
    assert not RoomRule()
    assert RoomRule("@")
    assert RoomRule(named=(("a", "b"),))
    assert RoomRule().rooms_of(("hz@b",)) == {}


@pytest.mark.parametrize("pair", [("", "r"), ("n", "")])
def test_half_a_pair_is_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(ArgumentError, match="a room needs a name and a room"):
        RoomRule(named=(pair,))
