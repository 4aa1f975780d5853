"""Options from a scenario, assumed ones and missing ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.whatif.model import RoomRule, Scenario
from dashboard.whatif.model.options import prepare
from rmqcore.allocation import STRATEGIES
from rmqcore.errors import ArgumentError
from tests.dashboard.whatif.made import queue, queues, situation

GROUP = situation(["hz-1", "sh-1"], queues(2, broker="hz@b") + queues(2, broker="sh@b"))
ROOMS = {"broker_rooms": RoomRule("@"), "client_rooms": RoomRule("-")}
NEARBY = "MACHINE_ROOM_NEARBY"


def test_what_is_missing_without_any_option() -> None:
    missing = {name: prepare(name, Scenario(), GROUP).missing for name in STRATEGIES}
    assert missing == {
        "AVG": (),
        "AVG_BY_CIRCLE": (),
        "CONFIG": ("config",),
        "MACHINE_ROOM": ("rooms",),
        "MACHINE_ROOM_NEARBY": ("queue_room", "client_room"),
        "CONSISTENT_HASH": (),
    }


def test_rooms_and_lists_are_taken_over() -> None:
    given = Scenario(rooms=("hz", "sh"), config=(("A", (queue(0),)),))
    assert prepare("MACHINE_ROOM", given, GROUP).options == {"rooms": {"hz", "sh"}}
    assert prepare("CONFIG", given, GROUP).options == {"config": {"A": [queue(0)]}}


def test_virtual_nodes_are_entered_or_assumed() -> None:
    assumed = prepare("CONSISTENT_HASH", Scenario(), GROUP)
    assert assumed.assumed == (("virtual_nodes", 10),)
    assert assumed.options == {}
    entered = prepare("CONSISTENT_HASH", Scenario(virtual_nodes=3), GROUP)
    assert (entered.assumed, entered.options) == ((), {"virtual_nodes": 3})


def test_too_large_a_ring_is_refused() -> None:
    many = replace(GROUP, members=tuple(f"m{number}" for number in range(501)))
    with pytest.raises(ArgumentError, match="501,000 in all, limit 500,000"):
        prepare("CONSISTENT_HASH", Scenario(virtual_nodes=1000), many)


def test_rooms_become_tables() -> None:
    found = prepare(NEARBY, Scenario(**ROOMS), GROUP)  # type: ignore[arg-type]
    assert found.name == f"{NEARBY}-AVG"
    assert found.options == {
        "queue_room": {"hz@b": "hz", "sh@b": "sh"},
        "client_room": {"hz-1": "hz", "sh-1": "sh"},
    }


@pytest.mark.parametrize(
    ("present", "changes", "inner", "assumed"),
    [
        ("AVG_BY_CIRCLE", {}, "AVG_BY_CIRCLE", True),
        ("CONFIG", {}, "AVG", True),
        (None, {}, "AVG", True),
        (f"{NEARBY}-CONSISTENT_HASH", {"virtual_nodes": 5}, "CONSISTENT_HASH", False),
        ("AVG", {"strategy": f"{NEARBY}-AVG_BY_CIRCLE"}, "AVG_BY_CIRCLE", False),
        ("AVG_BY_CIRCLE", {"inner": "AVG"}, "AVG", False),
        ("AVG_BY_CIRCLE", {"strategy": NEARBY}, "AVG_BY_CIRCLE", True),
    ],
)
def test_inner_is_entered_named_or_the_present_one(
    present: str | None, changes: dict[str, object], inner: str, assumed: bool
) -> None:
    group = replace(GROUP, strategy=present)
    found = prepare(NEARBY, Scenario(**ROOMS, **changes), group)  # type: ignore[arg-type]
    assert found.name == f"{NEARBY}-{inner}"
    assert found.assumed == ((("inner", inner),) if assumed else ())


def test_what_the_inner_strategy_lacks_is_missing_too() -> None:
    found = prepare(NEARBY, Scenario(inner="MACHINE_ROOM"), GROUP)
    assert found.missing == ("queue_room", "client_room", "rooms")
    assert found.name == f"{NEARBY}-MACHINE_ROOM"
