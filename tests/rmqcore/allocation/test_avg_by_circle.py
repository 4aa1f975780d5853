"""AVG_BY_CIRCLE: dealt out one by one (B2)."""

from __future__ import annotations

import pytest

from rmqcore.allocation import allocate, diff

from .made import divided, ids, ids_of, queues


@pytest.mark.parametrize(
    ("count", "members", "expected"),
    [
        (8, "AB", {"A": [0, 2, 4, 6], "B": [1, 3, 5, 7]}),
        (8, "ABC", {"A": [0, 3, 6], "B": [1, 4, 7], "C": [2, 5]}),
        (2, "ABC", {"A": [0], "B": [1], "C": []}),
        (1, "AB", {"A": [0], "B": []}),
    ],
)
def test_circle(count: int, members: str, expected: dict[str, list[int]]) -> None:
    assert ids_of(divided("AVG_BY_CIRCLE", count, members)) == expected


def test_a_join_changes_the_stride() -> None:
    change = diff(divided("AVG_BY_CIRCLE", 8, "AB"), divided("AVG_BY_CIRCLE", 8, "ABC"))
    assert ids([move.queue for move in change.moved]) == [2, 3, 4, 5]
    assert change.kept == 4


def test_an_id_listed_twice_takes_the_first_place() -> None:
    plan = divided("AVG_BY_CIRCLE", 8, "AAB")
    assert ids_of(plan) == {"A": [0, 3, 6], "B": [2, 5]}
    assert ids(plan.unassigned) == [1, 4, 7]


def test_one_member_takes_the_order_given() -> None:
    share = allocate(
        "AVG_BY_CIRCLE",
        group="G",
        client_id="A",
        queues=queues(5)[::-1],
        client_ids=["B", "A"],
    )
    assert ids(share) == [3, 1]
