"""MACHINE_ROOM_NEARBY: another strategy, room by room (B5)."""

from __future__ import annotations

import pytest

from rmqcore.allocation import Plan, allocate, allocate_group, allocate_topics
from rmqcore.errors import AllocationError, ArgumentError
from rmqcore.model import MessageQueue

from .made import queues
from .recorded import before_first_dash

NEARBY = "MACHINE_ROOM_NEARBY"
Q = queues(3, "r1-b") + queues(3, "r2-b") + queues(3, "r3-b")


def queue_room(queue: MessageQueue) -> str | None:
    return before_first_dash(queue.broker_name)


def divided(
    client_ids: list[str], name: str = f"{NEARBY}-AVG", **options: object
) -> Plan:
    given = {"queue_room": queue_room, "client_room": before_first_dash, **options}
    return allocate_group(name, group="G", queues=Q, client_ids=client_ids, **given)


def rooms_and_ids(plan: Plan) -> dict[str, list[str]]:
    return {
        client_id: [f"{queue.broker_name[:2]}/{queue.queue_id}" for queue in share]
        for client_id, share in plan.by_client.items()
    }


def test_rooms_without_members_are_shared_by_all() -> None:
    assert rooms_and_ids(divided(["r1-A", "r1-B", "r2-C"])) == {
        "r1-A": ["r1/0", "r1/1", "r3/0"],
        "r1-B": ["r1/2", "r3/1"],
        "r2-C": ["r2/0", "r2/1", "r2/2", "r3/2"],
    }


def test_own_room_comes_first_then_the_others_by_name() -> None:
    plan = divided(["r2-C"])
    assert rooms_and_ids(plan)["r2-C"] == [
        f"{room}/{number}" for room in ("r2", "r1", "r3") for number in range(3)
    ]


def test_a_member_in_a_room_without_queues_shares_the_rest() -> None:
    assert rooms_and_ids(divided(["r1-A", "r9-Z"])) == {
        "r1-A": ["r1/0", "r1/1", "r1/2", "r2/0", "r2/1", "r3/0", "r3/1"],
        "r9-Z": ["r2/2", "r3/2"],
    }


def test_a_join_leaves_other_rooms_alone() -> None:
    before, after = divided(["r1-A", "r2-C"]), divided(["r1-A", "r2-C", "r2-D"])
    r1 = [queue for queue in Q if queue.broker_name == "r1-b"]
    assert [before.owner(q) for q in r1] == [after.owner(q) for q in r1] == ["r1-A"] * 3


def test_another_inner_strategy() -> None:
    plan = divided(["r1-A", "r1-B", "r2-C"], f"{NEARBY}-AVG_BY_CIRCLE")
    assert rooms_and_ids(plan)["r1-A"] == ["r1/0", "r1/2", "r3/0"]


def test_inner_options_are_given_beside() -> None:
    plan = divided(["r1-A", "r1-B"], NEARBY, inner="CONSISTENT_HASH", virtual_nodes=0)
    assert plan.strategy == f"{NEARBY}-CONSISTENT_HASH"
    assert plan.idle == ("r1-A", "r1-B")


def test_inner_config_is_repeated_for_each_room_as_in_java() -> None:
    config = {"r1-A": [Q[0]]}
    plan = divided(["r1-A"], NEARBY, inner="CONFIG", config=config)
    assert plan.by_client["r1-A"] == (Q[0],) * 3


def test_a_nearby_inside_asks_the_same_resolvers() -> None:
    inside = divided(["r1-A", "r1-B", "r2-C"], f"{NEARBY}-{NEARBY}-AVG")
    assert (
        inside.by_client["r1-A"] == divided(["r1-A", "r1-B", "r2-C"]).by_client["r1-A"]
    )
    assert inside.strategy == f"{NEARBY}-{NEARBY}-AVG"


def test_rooms_may_be_mappings() -> None:
    plan = divided(
        ["A", "B"],
        queue_room={"r1-b": "x", "r2-b": "y", "r3-b": "y"},
        client_room={"A": "x", "B": "y"},
    )
    assert rooms_and_ids(plan)["A"] == ["r1/0", "r1/1", "r1/2"]


def test_topics_share_the_rooms_of_their_members() -> None:
    topics = queues(2, "r1-b", "T") + queues(2, "r1-b", "U")
    plan = allocate_topics(
        f"{NEARBY}-AVG",
        group="G",
        queues=topics,
        client_ids=["r1-A", "r1-B"],
        queue_room={"r1-b": "r1"},
        client_room=before_first_dash,
    )
    assert [f"{q.topic}{q.queue_id}" for q in plan.by_client["r1-A"]] == ["T0", "U0"]


def test_a_queue_without_a_room() -> None:
    with pytest.raises(AllocationError, match=r"Machine room is null for mq .*r1-b"):
        divided(["r1-A"], queue_room={})


@pytest.mark.parametrize("room", [None, ""])
def test_a_member_without_a_room(room: str | None) -> None:
    with pytest.raises(AllocationError, match="room is null for consumer id r1-A"):
        divided(["r1-A"], client_room=lambda _: room)
    with pytest.raises(AllocationError, match="room is null for consumer id r1-A"):
        divided(["r1-A"], client_room={"other": "r1"})


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (NEARBY, {}, "needs the option inner"),
        (f"{NEARBY}-AVG", {"inner": "CONFIG"}, "inner is 'CONFIG', but the name"),
        (f"{NEARBY}-AVG", {"rooms": ["r1"]}, "AVG takes no option 'rooms'"),
        (f"{NEARBY}-AVG", {"queue_room": "r1"}, "queue_room must be a function"),
        (f"{NEARBY}-AVG", {"client_room": 5}, "client_room must be a function"),
        (NEARBY, {"inner": 5}, "inner must be a strategy, got 5"),
    ],
)
def test_options_that_cannot_be_used(
    name: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        divided(["r1-A"], name, **options)


@pytest.mark.parametrize("left_out", ["queue_room", "client_room"])
def test_resolvers_are_needed(left_out: str) -> None:
    options = {"queue_room": queue_room, "client_room": before_first_dash}
    del options[left_out]
    with pytest.raises(ArgumentError, match=f"needs the option {left_out}"):
        allocate(
            f"{NEARBY}-AVG",
            group="G",
            client_id="r1-A",
            queues=Q,
            client_ids=["r1-A"],
            **options,
        )
