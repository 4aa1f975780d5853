"""AVG: contiguous blocks (B1), and what each lab of F5 must show."""

from __future__ import annotations

import pytest

from rmqcore.allocation import allocate, diff

from .made import divided, ids_of, queues


@pytest.mark.parametrize(
    ("count", "members", "expected"),
    [
        (16, "A", {"A": range(16)}),
        (16, "AB", {"A": range(8), "B": range(8, 16)}),
        (16, "ABC", {"A": range(6), "B": range(6, 11), "C": range(11, 16)}),
        (8, "AB", {"A": range(4), "B": range(4, 8)}),
        (8, "ABC", {"A": range(3), "B": range(3, 6), "C": range(6, 8)}),
        (2, "AB", {"A": [0], "B": [1]}),
        (2, "ABC", {"A": [0], "B": [1], "C": []}),
        (1, "AB", {"A": [0], "B": []}),
        (4, "ABCDE", {"A": [0], "B": [1], "C": [2], "D": [3], "E": []}),
    ],
)
def test_blocks(count: int, members: str, expected: dict[str, object]) -> None:
    wanted = {key: list(value) for key, value in expected.items()}  # type: ignore[call-overload]
    assert ids_of(divided("AVG", count, members)) == wanted


def test_a_member_past_the_last_queue_has_none() -> None:
    for client_id, expected in (("B", [1]), ("C", []), ("E", [])):
        share = allocate(
            "AVG",
            group="G",
            client_id=client_id,
            queues=queues(2),
            client_ids=["A", "B", "C", "D", "E"],
        )
        assert [queue.queue_id for queue in share] == expected


def test_input_in_any_order_gives_the_same_plan() -> None:
    assert divided("AVG", 16, "CAB") == divided("AVG", 16, "ABC")


def test_one_member_takes_the_order_given() -> None:
    share = allocate(
        "AVG",
        group="G",
        client_id="B",
        queues=queues(4)[::-1],
        client_ids=["B", "A"],
    )
    assert [queue.queue_id for queue in share] == [3, 2]


def test_a_join_shifts_the_borders() -> None:
    change = diff(divided("AVG", 16, "AB"), divided("AVG", 16, "ABC"))
    moves = {
        move.queue.queue_id: (*move.from_clients, *move.to_clients)
        for move in change.moved
    }
    assert moves == {
        **dict.fromkeys((6, 7), ("A", "B")),
        **dict.fromkeys(range(11, 16), ("B", "C")),
    }
    assert change.joined == ("C",)


def test_an_id_listed_twice_takes_the_first_part_only() -> None:
    # A5b: both processes compute the first part, nobody the second.
    plan = divided("AVG", 8, "AAB")
    assert ids_of(plan) == {"A": [0, 1, 2], "B": [6, 7]}
    assert [queue.queue_id for queue in plan.unassigned] == [3, 4, 5]
    assert plan.shared_ids == ("A",)
