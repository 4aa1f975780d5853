"""A scenario laid over a group."""

from __future__ import annotations

import pytest

from dashboard.whatif.model import (
    Note,
    QueueCount,
    Scenario,
    Situation,
    apply_edits,
    edits,
)
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue
from tests.dashboard.whatif.made import queue, queues, situation

GROUP = situation("AB", queues(4), lags=[0, 5, 7, 0], member_rate=30.0)


def rates_after(group: Situation, **changes: object) -> list[float | None]:
    after = apply_edits(group, Scenario(**changes)).situation  # type: ignore[arg-type]
    return [state.rate_in for state in after.queues]


def test_nothing_changed_is_the_same_group() -> None:
    edited = apply_edits(GROUP, Scenario())
    assert edited.situation == GROUP
    assert edited.notes == ()


def test_members_leave_are_renamed_and_join() -> None:
    changed = Scenario(add=("C", "D"), remove=("A",), rename=(("B", "Z"),))
    assert apply_edits(GROUP, changed).situation.members == ("Z", "C", "D")


def test_a_member_that_has_left_since_is_noted() -> None:
    edited = apply_edits(GROUP, Scenario(remove=("X",), rename=(("Y", "Z"),)))
    assert edited.situation.members == ("A", "B")
    assert edited.notes == (
        Note("member_not_there", (("client_id", "X"),)),
        Note("member_not_there", (("client_id", "Y"),)),
    )


def test_a_client_id_twice_is_noted() -> None:
    edited = apply_edits(GROUP, Scenario(add=("A",)))
    assert edited.situation.members == ("A", "B", "A")
    params = (("client_id", "A"), ("times", 2))
    assert edited.notes == (Note("client_id_shared", params),)


def test_more_queues_share_what_the_topic_gets() -> None:
    grown = Scenario(queue_counts=(QueueCount("orders", "broker-a", 8),))
    after = apply_edits(GROUP, grown).situation
    assert [state.queue for state in after.queues] == queues(8)
    assert {state.rate_in for state in after.queues} == {5.0}
    assert [state.lag for state in after.queues] == [0, 5, 7, 0, 0, 0, 0, 0]
    assert after.queues[6].owners == ()


def test_queues_taken_away_leave_their_lag_behind() -> None:
    edited = apply_edits(
        GROUP, Scenario(queue_counts=(QueueCount("orders", "broker-a", 2),))
    )
    assert [state.queue for state in edited.situation.queues] == queues(2)
    assert {state.rate_in for state in edited.situation.queues} == {20.0}
    params = (("queues", 2), ("lag", 7.0))
    assert edited.notes == (Note("lag_left_behind", params),)


def test_a_count_that_is_so_already_changes_no_rate() -> None:
    group = situation("AB", queues(2), rates=[1.0, 19.0])
    same = (QueueCount("orders", "broker-a", 2),)
    assert rates_after(group, queue_counts=same) == [1.0, 19.0]


def test_other_brokers_and_topics_are_left_alone() -> None:
    both = queues(2) + queues(2, broker="broker-b") + queues(2, topic="paid")
    group = situation("AB", both)
    grown = Scenario(queue_counts=(QueueCount("orders", "broker-b", 3),))
    after = apply_edits(group, grown).situation
    assert len(after.queues) == 7
    rates = {state.queue: state.rate_in for state in after.queues}
    assert rates[queue(2, broker="broker-b")] == rates[queue(0)] == 8.0
    assert rates[queue(0, topic="paid")] == 10.0


def test_a_topic_from_a_blank_sheet() -> None:
    drawn = Scenario(
        queue_counts=(QueueCount("new", "b", 4),), rates=(("new", 100.0),), add=("A",)
    )
    after = apply_edits(Situation("c", "G"), drawn).situation
    assert [state.queue for state in after.queues] == [
        MessageQueue("new", "b", number) for number in range(4)
    ]
    assert {state.rate_in for state in after.queues} == {25.0}
    without = apply_edits(
        Situation("c", "G"), Scenario(queue_counts=drawn.queue_counts)
    ).situation
    assert {state.rate_in for state in without.queues} == {None}


def test_a_topics_rate_keeps_its_skew() -> None:
    group = situation("AB", queues(2), rates=[1.0, 3.0])
    assert rates_after(group, rates=(("orders", 40.0),)) == [10.0, 30.0]
    # The factor is for topics without a rate of their own.
    assert rates_after(group, rates=(("orders", 40.0),), rate_factor=9.0) == [
        10.0,
        30.0,
    ]


@pytest.mark.parametrize("rates", [[None, 3.0], [0.0, 0.0]])
def test_without_a_known_skew_a_rate_is_spread(rates: list[float | None]) -> None:
    group = situation("AB", queues(2), rates=rates)
    assert rates_after(group, rates=(("orders", 40.0),)) == [20.0, 20.0]


def test_the_factor_leaves_the_unknown_unknown() -> None:
    group = situation("AB", queues(2), rates=[None, 3.0])
    assert rates_after(group, rate_factor=2.0) == [None, 6.0]


def test_a_rate_for_a_topic_that_is_not_there_is_noted() -> None:
    edited = apply_edits(GROUP, Scenario(rates=(("gone", 5.0),)))
    assert edited.notes == (Note("topic_not_there", (("topic", "gone"),)),)
    assert edited.situation == GROUP


def test_what_a_member_can_take_is_replaced() -> None:
    assert apply_edits(GROUP, Scenario()).situation.member_rate == 30.0
    entered = apply_edits(GROUP, Scenario(member_rate=99.0))
    assert entered.situation.member_rate == 99.0


def test_limits_hold_for_the_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edits, "MEMBER_LIMIT", 2)
    with pytest.raises(ArgumentError, match="3 members, at most 2 are compared"):
        apply_edits(GROUP, Scenario(add=("C",)))
    monkeypatch.setattr(edits, "QUEUE_LIMIT", 3)
    with pytest.raises(ArgumentError, match="4 queues, at most 3 are compared"):
        apply_edits(GROUP, Scenario())
