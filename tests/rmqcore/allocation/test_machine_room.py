"""MACHINE_ROOM: only the rooms allowed, remainder one each (B4)."""

from __future__ import annotations

import pytest

from rmqcore.allocation import allocate, allocate_group
from rmqcore.allocation.machine_room import room_of
from rmqcore.errors import AllocationError, ArgumentError

from .made import ids_of, queues


@pytest.mark.parametrize(
    ("broker_name", "room"),
    [
        ("r1@b", "r1"),
        ("r1@b@", "r1"),
        ("r1@b@@", "r1"),
        ("@b", ""),
        ("r1@", None),
        ("r1@@", None),
        ("r1@b@c", None),
        ("r1@@c", None),
        ("b", None),
        ("", None),
        ("@", None),
    ],
)
def test_room_of_a_broker_name(broker_name: str, room: str | None) -> None:
    assert room_of(broker_name) == room


def test_even_with_another_room_beside() -> None:
    others = queues(2, "r2@b") + queues(2, "plain")
    plan = allocate_group(
        "MACHINE_ROOM",
        group="G",
        queues=queues(6, "r1@b") + others,
        client_ids=["A", "B"],
        rooms={"r1"},
    )
    assert ids_of(plan) == {"A": [0, 1, 2], "B": [3, 4, 5]}
    assert set(plan.unassigned) == set(others)


def test_remainder_goes_one_each_from_the_end() -> None:
    plan = allocate_group(
        "MACHINE_ROOM",
        group="G",
        queues=queues(8, "r1@b"),
        client_ids=["A", "B", "C"],
        rooms=["r1", "r2"],
    )
    assert ids_of(plan) == {"A": [0, 1, 6], "B": [2, 3, 7], "C": [4, 5]}


def test_fewer_queues_than_members() -> None:
    plan = allocate_group(
        "MACHINE_ROOM",
        group="G",
        queues=queues(2, "r1@b"),
        client_ids=["A", "B", "C"],
        rooms=["r1"],
    )
    assert ids_of(plan) == {"A": [0], "B": [1], "C": []}


def test_no_room_allowed() -> None:
    plan = allocate_group(
        "MACHINE_ROOM",
        group="G",
        queues=queues(2, "r1@b"),
        client_ids=["A"],
        rooms=(),
    )
    assert ids_of(plan) == {"A": []}


def test_rooms_never_set_fail_once_a_room_is_looked_up() -> None:
    def taken(broker_name: str) -> list[object]:
        return list(
            allocate(
                "MACHINE_ROOM",
                group="G",
                client_id="A",
                queues=queues(2, broker_name),
                client_ids=["A"],
                rooms=None,
            )
        )

    assert taken("plain") == []
    with pytest.raises(AllocationError, match="rooms are missing"):
        taken("r1@b")


@pytest.mark.parametrize(
    ("rooms", "message"),
    [
        ("r1", "rooms must be a set of names, got 'r1'"),
        (7, "rooms must be a set of names, got 7"),
        (["r1", 7], "one is 7"),
    ],
)
def test_other_types_are_refused(rooms: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        allocate_group(
            "MACHINE_ROOM",
            group="G",
            queues=queues(2),
            client_ids=["A"],
            rooms=rooms,
        )
