"""Plans, their owners, and what changes between two."""

from __future__ import annotations

import pytest

from rmqcore.allocation import (
    Move,
    allocate_group,
    allocate_topics,
    diff,
    plan_of_owners,
)
from rmqcore.errors import ArgumentError

from .made import divided, ids, ids_of, queues

Q = queues(4)


def test_members_stand_in_the_groups_order() -> None:
    plan = divided("AVG", 3, "CAB")
    assert list(plan.by_client) == ["A", "B", "C"]
    assert plan.counts == {"A": 1, "B": 1, "C": 1}


def test_idle_members_are_members() -> None:
    plan = divided("AVG", 2, "ABC")
    assert plan.idle == ("C",)
    assert plan.counts["C"] == 0


def test_owner_of_a_queue() -> None:
    plan = divided("AVG", 4, "AB")
    assert [plan.owner(queue) for queue in Q] == ["A", "A", "B", "B"]
    assert plan.owner(queues(5)[4]) is None
    assert plan.owners(queues(5)[4]) == ()


def test_several_owners_have_no_only_one() -> None:
    plan = plan_of_owners({Q[0]: ["B", "A", "B"]}, ["A", "B"])
    assert plan.owners(Q[0]) == ("A", "B")
    assert plan.by_client == {"A": (Q[0],), "B": (Q[0],)}, "B said it twice"
    with pytest.raises(ArgumentError, match="has 2 owners"):
        plan.owner(Q[0])


def test_a_queue_listed_twice_by_one_member_has_one_owner() -> None:
    plan = allocate_group(
        "CONFIG", group="G", queues=Q, client_ids=["A"], config={"A": [Q[0], Q[0]]}
    )
    assert plan.owners(Q[0]) == ("A",)
    assert plan.counts == {"A": 2}


def test_nothing_can_be_changed() -> None:
    plan = divided("AVG", 4, "AB")
    with pytest.raises(TypeError):
        plan.by_client["A"] = ()  # type: ignore[index]
    with pytest.raises(TypeError):
        plan.by_queue[Q[0]] = ()  # type: ignore[index]


def test_as_config_is_the_same_division() -> None:
    plan = divided("CONSISTENT_HASH", 4, "AB")
    again = allocate_group(
        "CONFIG", group="G", queues=Q, client_ids=["A", "B"], config=plan.as_config()
    )
    assert again.by_client == plan.by_client


def test_owners_as_seen() -> None:
    plan = plan_of_owners({Q[1]: ["A"], Q[0]: ["gone"], Q[2]: []}, ["B", "A", "A"])
    assert ids_of(plan) == {"A": [1], "B": [], "gone": [0]}
    assert plan.unassigned == (Q[2],)
    assert plan.shared_ids == ("A",)


def test_topics_are_divided_apart() -> None:
    both = queues(3, topic="T") + queues(3, topic="U")
    apart = allocate_topics("AVG", group="G", queues=both, client_ids=["B", "A"])
    assert {
        k: [f"{q.topic}{q.queue_id}" for q in v] for k, v in apart.by_client.items()
    } == {
        "A": ["T0", "T1", "U0", "U1"],
        "B": ["T2", "U2"],
    }
    as_one = allocate_group("AVG", group="G", queues=both, client_ids=["A", "B"])
    assert as_one.counts == {"A": 3, "B": 3}


def test_configured_lists_count_once_over_all_topics() -> None:
    both = queues(1, topic="T") + queues(1, topic="U")
    plan = allocate_topics(
        "CONFIG", group="G", queues=both, client_ids=["A"], config={"A": both}
    )
    assert plan.by_client["A"] == tuple(both)


def test_equal_plans_do_not_differ() -> None:
    plan = divided("AVG", 4, "AB")
    assert diff(plan, divided("AVG", 4, "BA")).is_empty
    assert diff(plan, plan).kept == 4


def test_moved_gained_and_lost() -> None:
    before = plan_of_owners({Q[0]: ["A"], Q[1]: ["A"], Q[2]: [], Q[3]: ["B"]}, "AB")
    after = plan_of_owners({Q[0]: ["B"], Q[1]: [], Q[2]: ["B"], Q[3]: ["B"]}, "AB")
    change = diff(before, after)
    assert change.moved == (Move(Q[0], ("A",), ("B",)),)
    assert change.lost == (Move(Q[1], ("A",), ()),)
    assert change.gained == (Move(Q[2], (), ("B",)),)
    assert change.kept == 1
    assert not change.is_empty


def test_queues_and_members_that_come_and_go() -> None:
    change = diff(divided("AVG", 4, "AB"), divided("AVG", 2, "BC"))
    assert ids(change.removed) == [2, 3]
    assert change.added == ()
    assert (change.joined, change.left) == (("C",), ("A",))
    back = diff(divided("AVG", 2, "BC"), divided("AVG", 4, "AB"))
    assert ids(back.added) == [2, 3]


def test_owned_twice_and_then_once_is_a_move() -> None:
    before = plan_of_owners({Q[0]: ["A", "B"]}, "AB")
    after = plan_of_owners({Q[0]: ["B"]}, "AB")
    assert diff(before, after).moved == (Move(Q[0], ("A", "B"), ("B",)),)
