"""CONSISTENT_HASH: virtual nodes on a ring (B6)."""

from __future__ import annotations

from hashlib import md5

import pytest

from rmqcore.allocation import allocate, allocate_group, diff
from rmqcore.allocation.consistent_hash import ConsistentHash, md5_places
from rmqcore.errors import AllocationError, ArgumentError

from .made import divided, ids, ids_of, queues


def test_two_members_as_documented() -> None:
    plan = allocate_group(
        "CONSISTENT_HASH", group="G", queues=queues(8), client_ids=["c3", "c1"]
    )
    assert ids_of(plan) == {"c1": [0, 4, 5, 7], "c3": [1, 2, 3, 6]}


def test_three_members_as_seen_on_java() -> None:
    plan = allocate_group(
        "CONSISTENT_HASH", group="G", queues=queues(8), client_ids=["c1", "c2", "c3"]
    )
    assert ids_of(plan) == {"c1": [0, 4], "c2": [1, 2, 5, 6, 7], "c3": [3]}


def test_places_are_the_first_bytes_of_md5() -> None:
    assert md5_places(["a-0", "中"]) == [
        md5(b"a-0").digest()[:4],
        md5("中".encode()).digest()[:4],
    ]
    # Half a surrogate pair: Java writes a question mark.
    assert md5_places(["\ud83d"]) == md5_places(["?"])


def test_a_join_takes_queues_and_shuffles_nothing_else() -> None:
    before = divided("CONSISTENT_HASH", 200, "ABCD")
    after = divided("CONSISTENT_HASH", 200, "ABCDE")
    change = diff(before, after)
    assert 10 < len(change.moved) < 80
    assert {move.to_clients for move in change.moved} == {("E",)}


def by_number(text: str) -> int:
    """Put queue n at 10 n, and nodes A-0, B-0, … at 5, 105, 205, …"""
    if text.startswith("MessageQueue"):
        return 10 * int(text.rpartition("=")[2].rstrip("]"))
    name, _, number = text.partition("-")
    return 5 + 100 * (ord(name) - ord("A")) + 1000 * int(number)


def test_the_next_node_clockwise_takes_the_queue() -> None:
    plan = divided(
        "CONSISTENT_HASH", 25, "ABC", virtual_nodes=1, hash_function=by_number
    )
    assert ids_of(plan) == {
        # 0 is before A's node; 21 to 24 are past the last one and go around.
        "A": [0, 21, 22, 23, 24],
        "B": list(range(1, 11)),
        "C": list(range(11, 21)),
    }


def test_a_queue_at_a_node_goes_to_it() -> None:
    def at(text: str) -> int:
        return {"A-0": 1, "B-0": 2}.get(text, 1)

    plan = divided("CONSISTENT_HASH", 1, "AB", virtual_nodes=1, hash_function=at)
    assert plan.owner(queues(1)[0]) == "A"


def test_a_later_node_replaces_one_at_its_place() -> None:
    plan = divided("CONSISTENT_HASH", 3, "ABC", hash_function=lambda _: 7)
    assert plan.idle == ("A", "B")


def test_a_replaced_node_no_longer_counts_for_an_id_listed_twice() -> None:
    seen: list[str] = []

    def recorded(text: str) -> int:
        seen.append(text)
        return {"A-0": 1, "A-1": 2, "B-0": 1, "B-1": 3}.get(text, 9)

    allocate(
        "CONSISTENT_HASH",
        group="G",
        client_id="A",
        queues=queues(1),
        client_ids=["A", "B", "A"],
        virtual_nodes=2,
        hash_function=recorded,
    )
    # B-0 took the place of A-0, so one node of A is left and A goes on at 1.
    assert seen[:6] == ["A-0", "A-1", "B-0", "B-1", "A-1", "A-2"]


def test_without_nodes_nobody_takes_anything() -> None:
    plan = divided("CONSISTENT_HASH", 4, "AB", virtual_nodes=0)
    assert plan.idle == ("A", "B")
    assert ids(plan.unassigned) == [0, 1, 2, 3]


def test_an_id_listed_twice_gets_further_nodes() -> None:
    once, twice = (
        divided("CONSISTENT_HASH", 64, "AB"),
        divided("CONSISTENT_HASH", 64, "AAB"),
    )
    more_nodes = allocate(
        "CONSISTENT_HASH",
        group="G",
        client_id="A",
        queues=queues(64),
        client_ids=["A", "A", "B"],
    )
    assert list(twice.by_client["A"]) == more_nodes
    assert set(once.by_client["A"]) < set(more_nodes)
    assert not twice.unassigned


def test_a_missing_client_id_fails_once_another_follows() -> None:
    def taken(client_ids: list[str | None]) -> list[int]:
        return ids(
            allocate(
                "CONSISTENT_HASH",
                group="G",
                client_id="A",
                queues=queues(8),
                client_ids=client_ids,  # type: ignore[arg-type]
            )
        )

    with pytest.raises(AllocationError, match="client id is missing"):
        taken([None, "A"])
    assert len(taken(["A", None])) < len(taken(["A"])) == 8
    shares = ConsistentHash().divider(["A", None])(queues(8))  # type: ignore[list-item]
    assert ids(shares.pop("A")) == taken(["A", None])
    assert not shares


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"virtual_nodes": -1}, "illegal virtualNodeCnt :-1"),
        ({"virtual_nodes": "10"}, "virtual_nodes must be a whole number, got '10'"),
        ({"virtual_nodes": True}, "virtual_nodes must be a whole number, got True"),
        ({"hash_function": 3}, "hash_function must take a text"),
        ({"hash_function": lambda _: 0.5}, r"must return a whole number, gave 0\.5"),
    ],
)
def test_options_that_cannot_be_used(options: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        divided("CONSISTENT_HASH", 4, "AB", **options)
