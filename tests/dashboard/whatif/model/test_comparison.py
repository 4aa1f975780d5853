"""All strategies beside the present division."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.whatif.model import (
    NOW,
    Comparison,
    Note,
    QueueCount,
    QueueState,
    RoomRule,
    Row,
    Scenario,
    Situation,
    Weighing,
    compare,
    read_situation,
)
from rmqcore.allocation import BALANCED, NEVER, STRATEGIES, allocate_group
from rmqcore.errors import ArgumentError
from tests.dashboard.documents import waiting_for_locks
from tests.dashboard.whatif.made import queue, queues, situation

SIXTEEN = situation("AB", queues(16))
EVERYTHING = Scenario(
    rooms=("hz",),
    broker_rooms=RoomRule("@"),
    client_rooms=RoomRule("-"),
    config=(("A", tuple(queues(16))),),
)


def counts(row: Row) -> list[int]:
    assert row.plan is not None
    return list(row.plan.counts.values())


def moved(row: Row) -> list[int]:
    assert row.figures is not None
    return [move.queue.queue_id for move in row.figures.moves(row.figures.moved)]


def test_rows_stand_in_a_fixed_order() -> None:
    found = compare(SIXTEEN, Scenario())
    assert [row.key for row in found.rows] == [NOW, *STRATEGIES, BALANCED]


def test_a_third_member_of_sixteen_queues() -> None:
    # The divisions of B1: 0-7, 8-15 become 0-5, 6-10, 11-15.
    found = compare(SIXTEEN, Scenario(add=("C",)))
    assert counts(found.row(NOW)) == [8, 8]
    assert counts(found.row("AVG")) == [6, 5, 5]
    assert moved(found.row("AVG")) == [6, 7, 11, 12, 13, 14, 15]
    # No plan has a worst load below 6, and 4 is the fewest that reach it.
    assert counts(found.row(BALANCED)) == [6, 6, 4]
    assert len(moved(found.row(BALANCED))) == 4


def test_now_knows_nothing_of_the_edits() -> None:
    found = compare(
        SIXTEEN,
        Scenario(
            add=("C",),
            rate_factor=3.0,
            queue_counts=(QueueCount("orders", "broker-a", 4),),
        ),
    )
    now = found.row(NOW).figures
    assert now is not None
    assert [member.load for member in now.members] == [80.0, 80.0]
    assert not now.moved
    # 160/s in all, times three, over four queues.
    after = found.row("AVG").figures
    assert after is not None
    assert [member.load for member in after.members] == [240.0, 120.0, 120.0]


def test_now_is_judged_by_the_rate_entered() -> None:
    lagging = situation("AB", queues(2), lags=[1000, 0], member_rate=10.0)
    assert worst_drain(compare(lagging, Scenario()).row(NOW)) == NEVER
    entered = compare(lagging, Scenario(member_rate=20.0))
    assert worst_drain(entered.row(NOW)) == 100.0


def test_members_that_keep_up_have_nothing_to_drain() -> None:
    steady = situation("AB", queues(2), lags=[3, 4], member_rate=9.9)
    assert worst_drain(compare(steady, Scenario()).row(NOW)) == 0.0
    doubled = compare(steady, Scenario(rate_factor=2.0))
    assert worst_drain(doubled.row("AVG")) == NEVER


def worst_drain(row: Row) -> float | None:
    assert row.figures is not None
    return row.figures.worst_drain_s


def test_reasons_where_options_are_missing() -> None:
    rooms = situation("AB", queues(2, broker="hz@b") + queues(1, broker="sh@b"))
    found = compare(rooms, Scenario())
    reasons = {row.key: row.reason for row in found.rows if row.reason}
    assert reasons == {
        "CONFIG": Note("needs_options", (("options", "config"),)),
        "MACHINE_ROOM": Note(
            "needs_options", (("options", "rooms"), ("rooms_seen", "hz, sh"))
        ),
        "MACHINE_ROOM_NEARBY": Note(
            "needs_options", (("options", "queue_room, client_room"),)
        ),
    }
    for key in reasons:
        assert found.row(key).plan is None
        assert found.row(key).figures is None


def test_numbers_where_options_are_entered() -> None:
    rooms = situation(
        ["hz-A", "sh-B"], queues(2, broker="hz@b") + queues(1, broker="sh@b")
    )
    found = compare(rooms, EVERYTHING)
    assert counts(found.row("MACHINE_ROOM")) == [1, 1]
    assert found.row("MACHINE_ROOM_NEARBY").strategy == "MACHINE_ROOM_NEARBY-AVG"
    assert counts(found.row("MACHINE_ROOM_NEARBY")) == [2, 1]
    assert all(row.reason is None for row in found.rows)


def test_a_strategy_that_refuses_says_why() -> None:
    found = compare(SIXTEEN, EVERYTHING)
    reason = found.row("MACHINE_ROOM_NEARBY").reason
    assert reason is not None
    assert reason.code == "refused"
    assert "Machine room is null for mq" in str(reason.params)


def test_without_members_or_queues_there_is_a_reason() -> None:
    gone = compare(SIXTEEN, Scenario(remove=("A", "B")))
    assert {row.reason for row in gone.rows[1:]} == {Note("no_members")}
    assert counts(gone.row(NOW)) == [8, 8]
    blank = compare(Situation("c", "G"), Scenario(add=("A",)))
    assert {row.reason for row in blank.rows[1:]} == {Note("no_queues")}
    assert counts(blank.row(NOW)) == []


def test_owners_that_nobody_knows_are_noted() -> None:
    unheard = tuple(QueueState(each, rate_in=1.0, heard=False) for each in queues(16))
    found = compare(replace(SIXTEEN, queues=unheard), Scenario())
    assert found.notes == (Note("owners_unknown", (("queues", 16), ("all", 16))),)
    avg = found.row("AVG").figures
    assert avg is not None
    assert (avg.changed, len(avg.unheard)) == ((), 16)
    now = found.row(NOW).figures
    assert now is not None
    assert (now.unassigned, now.full, now.idle) == (0, False, None)
    assert now.by_queues.max_over_mean is None
    assert {member.lag for member in now.members} == {None}


def test_now_has_owners_as_reported() -> None:
    # Twice owned, not owned, owned by somebody who is no member.
    seen = replace(
        SIXTEEN,
        queues=(
            QueueState(queue(0), ("A", "B")),
            QueueState(queue(1), ()),
            QueueState(queue(2), ("gone",)),
        ),
    )
    row = compare(seen, Scenario()).row(NOW)
    assert row.plan is not None
    assert row.plan.counts == {"A": 1, "B": 1, "gone": 1}
    assert row.plan.unassigned == (queue(1),)


def test_a_client_id_twice_leaves_queues_to_nobody() -> None:
    found = compare(SIXTEEN, Scenario(add=("A",)))
    row = found.row("AVG")
    assert row.figures is not None
    assert row.figures.unassigned == 5
    assert row.plan is not None
    assert row.plan.shared_ids == ("A",)


def test_topics_are_divided_apart_and_balanced_together() -> None:
    several = [each for topic in "TUVW" for each in queues(3, topic=topic)]
    found = compare(situation("AB", several), Scenario())
    assert counts(found.row("AVG")) == [8, 4]
    assert counts(found.row(BALANCED)) == [6, 6]


@pytest.mark.parametrize(
    ("weighing", "expected"),
    [(Weighing.RATE, [1, 3]), (Weighing.LAG, [3, 1]), (Weighing.QUEUES, [2, 2])],
)
def test_what_the_balanced_plan_evens_out(
    weighing: Weighing, expected: list[int]
) -> None:
    group = situation("AB", queues(4), rates=[30, 10, 10, 10], lags=[1, 1, 1, 30])
    group = replace(
        group, queues=tuple(replace(state, owners=()) for state in group.queues)
    )
    found = compare(group, Scenario(weighing=weighing)).row(BALANCED)
    assert sorted(counts(found)) == sorted(expected)
    assert found.plan is not None
    if weighing is Weighing.LAG:
        assert found.plan.by_client[found.plan.owner(queue(3)) or ""] == (queue(3),)


def test_a_row_that_is_not_there() -> None:
    with pytest.raises(
        ArgumentError, match="unknown row 'STICKY'; the known ones are NOW, AVG"
    ):
        compare(SIXTEEN, Scenario()).row("STICKY")


def test_the_collectors_document_compares() -> None:
    found = compare(read_situation(waiting_for_locks()), Scenario())
    avg = found.row("AVG").figures
    assert avg is not None
    # The four queues that wait for locks get the owner that AVG gives them.
    assert len(avg.gained) == 4
    assert not avg.moved


def best_of(found: Comparison) -> float:
    worst = [
        max(member.load for member in row.figures.members)
        for row in found.rows[1:-1]
        if row.figures and not row.figures.unassigned
    ]
    return min(worst)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0, 100) | st.none(), min_size=1, max_size=24),
    st.integers(1, 5),
    st.integers(0, 3),
)
def test_the_balanced_plan_is_the_lightest_row(
    rates: list[float | None], members: int, joining: int
) -> None:
    group = situation(
        [f"m{n}" for n in range(members)], queues(len(rates)), rates=rates
    )
    found = compare(group, Scenario(add=tuple(f"new-{n}" for n in range(joining))))
    balanced = found.row(BALANCED).figures
    assert balanced is not None
    if not any(rates):
        return
    heaviest = max(member.load for member in balanced.members)
    assert heaviest <= best_of(found) * (1 + 1e-8)


@given(st.sets(st.text(min_size=1, max_size=3), min_size=1, max_size=6))
def test_a_row_is_the_division_that_would_come_true(members: set[str]) -> None:
    found = compare(SIXTEEN, Scenario(remove=("A", "B"), add=tuple(members)))
    for name in ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"):
        expected = allocate_group(
            name, group="G", queues=queues(16), client_ids=members
        )
        row = found.row(name)
        assert row.plan is not None
        assert row.plan.by_client == expected.by_client
