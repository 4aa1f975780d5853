"""CONFIG: the configured list, whatever the input (B3)."""

from __future__ import annotations

import pytest

from rmqcore.allocation import allocate, allocate_group
from rmqcore.errors import ArgumentError

from .made import ids_of, queues

Q = queues(4)


def test_the_list_is_returned_unchecked() -> None:
    share = allocate(
        "CONFIG", group="G", client_id="nobody", queues=[], client_ids=[], config=Q[:2]
    )
    assert share == Q[:2]


def test_the_list_returned_is_the_callers_own() -> None:
    config = Q[:2]
    allocate(
        "CONFIG", group="G", client_id="A", queues=Q, client_ids=["A"], config=config
    ).clear()
    assert config == Q[:2]


def test_a_group_takes_a_mapping() -> None:
    plan = allocate_group(
        "CONFIG",
        group="G",
        queues=Q,
        client_ids=["B", "A", "C"],
        config={"A": Q[:2], "B": Q[1:3], "gone": Q[3:]},
    )
    assert ids_of(plan) == {"A": [0, 1], "B": [1, 2], "C": []}
    assert plan.unassigned == (Q[3],)
    assert plan.owners(Q[1]) == ("A", "B")


def test_one_member_finds_its_list_in_the_mapping() -> None:
    for client_id, expected in (("A", Q[:1]), ("B", [])):
        share = allocate(
            "CONFIG",
            group="G",
            client_id=client_id,
            queues=Q,
            client_ids=["A", "B"],
            config={"A": Q[:1]},
        )
        assert share == expected


def test_before_it_is_given_a_list_there_is_nothing() -> None:
    plan = allocate_group("CONFIG", group="G", queues=Q, client_ids=["A"], config=None)
    assert ids_of(plan) == {"A": []}
    assert plan.unassigned == tuple(Q)


def test_one_list_for_a_group_is_refused() -> None:
    with pytest.raises(ArgumentError, match="config must map client ids"):
        allocate_group("CONFIG", group="G", queues=Q, client_ids=["A"], config=Q)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("T:0", r"config must be a list of MessageQueue, got 'T:0'"),
        (3, "config must be a list"),
        ([Q[0], "T:0"], r"config\[1\] must be a MessageQueue, got 'T:0'"),
        ({"A": 3}, r"config\['A'\] must be a list"),
    ],
)
def test_other_types_are_refused(config: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        allocate(
            "CONFIG",
            group="G",
            client_id="A",
            queues=Q,
            client_ids=["A"],
            config=config,
        )
