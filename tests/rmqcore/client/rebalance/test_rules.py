"""What a rebalance changes: added, dropped, stalled queues; locks granted and lost."""

from __future__ import annotations

from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.allocation import make_strategy
from rmqcore.client.membership.process_queue import ProcessQueue
from rmqcore.client.rebalance.rules import (
    Assigner,
    apply_lock_answer,
    by_broker,
    divide,
    not_subscribed,
)
from rmqcore.errors import AllocationError
from rmqcore.model import MessageModel, MessageQueue

NOW = 1_700_000_000_000
QUEUES = [MessageQueue("T", "broker-a", number) for number in range(8)]
OTHER = MessageQueue("U", "broker-b", 0)


def assigner(
    client_id: str = "c1", model: MessageModel = MessageModel.CLUSTERING
) -> Assigner:
    return Assigner("G", client_id, model, make_strategy("AVG", {}))


def holding(*queues: MessageQueue) -> dict[MessageQueue, ProcessQueue]:
    return {queue: ProcessQueue(queue, NOW) for queue in queues}


def locked(*queues: MessageQueue) -> dict[MessageQueue, ProcessQueue]:
    held = holding(*queues)
    for process in held.values():
        process.confirm_lock(NOW)
    return held


# A member's part


def test_the_input_is_sorted_before_it_is_divided() -> None:
    part = assigner("c2").part(reversed(QUEUES), ["c3", "c2", "c1"])
    assert part == QUEUES[3:6]


def test_broadcasting_takes_all_and_asks_nobody() -> None:
    part = assigner(model=MessageModel.BROADCASTING).part(reversed(QUEUES), [])
    assert part == QUEUES


def test_a_member_that_is_not_listed_gets_nothing() -> None:
    assert assigner("stranger").part(QUEUES, ["c1", "c2"]) == []


def test_an_empty_group_is_refused() -> None:
    with pytest.raises(AllocationError):
        assigner().part(QUEUES, [])


# Compared with what is held


def test_a_first_part_is_all_new() -> None:
    division = divide("T", QUEUES[:2], {}, NOW)
    assert division.added == division.owned == tuple(QUEUES[:2])
    assert division.dropped == ()
    assert division.changes


def test_an_equal_part_changes_nothing() -> None:
    assert not divide("T", QUEUES[:2], holding(*QUEUES[:2]), NOW).changes


def test_a_moved_part_adds_and_drops() -> None:
    division = divide("T", QUEUES[1:3], holding(*QUEUES[:2]), NOW)
    assert division.added == (QUEUES[2],)
    assert division.dropped == (QUEUES[0],)


def test_other_topics_are_left_alone() -> None:
    assert not divide("T", [], holding(OTHER), NOW).changes


def test_a_queue_named_twice_is_owned_once() -> None:
    assert divide("T", [QUEUES[0], QUEUES[0]], {}, NOW).owned == (QUEUES[0],)


def test_a_queue_whose_pulling_died_is_made_anew() -> None:
    held = holding(*QUEUES[:2])
    held[QUEUES[1]].last_pull_ms = NOW + 60_000
    division = divide("T", QUEUES[:2], held, NOW + 120_001)
    assert division.stalled == (QUEUES[0],)
    assert (division.added, division.dropped) == ((), ())
    assert division.changes


def test_queues_of_topics_not_subscribed_are_found() -> None:
    assert not_subscribed([QUEUES[0], OTHER], {"T"}) == [OTHER]


@given(
    st.sets(st.sampled_from(QUEUES)),
    st.sets(st.sampled_from(QUEUES)),
)
def test_a_division_turns_the_held_queues_into_the_part(
    held: set[MessageQueue], part: set[MessageQueue]
) -> None:
    division = divide("T", part, holding(*held), NOW)
    assert (held - set(division.dropped)) | set(division.added) == part
    assert held.isdisjoint(division.added)


def test_members_that_see_the_same_own_every_queue_once() -> None:
    ids = ["c1", "c2", "c3"]
    parts = [assigner(client_id).part(QUEUES, ids) for client_id in ids]
    assert sorted(queue for part in parts for queue in part) == QUEUES


# Locks (C8)


def test_queues_are_grouped_by_broker() -> None:
    assert by_broker([QUEUES[0], OTHER, QUEUES[1]], attrgetter("broker_name")) == {
        "broker-a": QUEUES[:2],
        "broker-b": [OTHER],
    }


def test_a_granted_lock_is_gained_once() -> None:
    held = holding(QUEUES[0])
    assert apply_lock_answer(held, held, held, NOW) == ([QUEUES[0]], [])
    assert apply_lock_answer(held, held, held, NOW + 20_000) == ([], [])
    assert held[QUEUES[0]].last_lock_ms == NOW + 20_000


def test_a_lock_not_in_the_answer_is_lost() -> None:
    held = locked(*QUEUES[:2])
    answer = apply_lock_answer(held, QUEUES[:1], held, NOW + 20_000)
    assert answer == ([], [QUEUES[1]])
    assert not held[QUEUES[1]].locked


def test_a_lock_that_was_never_ours_is_not_lost() -> None:
    held = holding(QUEUES[0])
    assert apply_lock_answer(held, [], held, NOW) == ([], [])


def test_a_lock_renewed_after_the_brokers_expiry_is_gained_anew() -> None:
    held = locked(QUEUES[0])
    assert apply_lock_answer(held, held, held, NOW + 59_999) == ([], [])
    assert apply_lock_answer(held, held, held, NOW + 59_999 + 60_000) == (
        [QUEUES[0]],
        [],
    )


def test_a_queue_given_up_meanwhile_is_ignored() -> None:
    assert apply_lock_answer([QUEUES[0]], [QUEUES[0]], {}, NOW) == ([], [])
