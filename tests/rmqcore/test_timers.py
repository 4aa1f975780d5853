"""Slots: named by the clock, run at most once, made up for when late."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.timers import PERIOD_S, Schedule, Slot, Timer, slot_at, slot_of

PULSE = {"pulse": 1.0}
ONE = {Timer.RENEW_LOCKS: 20.0}
TWO = {Timer.RENEW_LOCKS: 20.0, Timer.PERSIST_OFFSETS: 5.0}
START = 1_000_000.0  # the beginning of a slot of both


@pytest.fixture
def schedule() -> Schedule:
    return Schedule(START, ONE)


def test_the_periods_are_those_of_the_design() -> None:
    assert {timer.value: period for timer, period in PERIOD_S.items()} == {
        "rebalance": 20,
        "renew_locks": 20,
        "persist_offsets": 5,
        "heartbeat": 30,
        "refresh_routes": 30,
        "expire_stuck": 60,
    }


def test_a_slot_is_the_floor_of_time_by_period() -> None:
    assert slot_of(59.99, 20) == 2
    assert slot_of(60.0, 20) == 3


def test_the_slot_of_the_start_counts_as_run(schedule: Schedule) -> None:
    assert schedule.due(START + 19.9) == []
    assert not schedule.claim(schedule.current(Timer.RENEW_LOCKS, START), START)


def test_a_slot_is_due_when_it_begins(schedule: Schedule) -> None:
    assert schedule.due(START + 20) == [Slot(Timer.RENEW_LOCKS, 50_001, START + 20)]


def test_a_slot_is_claimed_once(schedule: Schedule) -> None:
    (slot,) = schedule.due(START + 20)
    assert schedule.claim(slot, START + 20)
    assert not schedule.claim(slot, START + 20.1)
    assert schedule.due(START + 39) == []


def test_an_older_slot_is_not_run_after_a_newer_one(schedule: Schedule) -> None:
    older = schedule.current(Timer.RENEW_LOCKS, START + 20)
    newer = schedule.current(Timer.RENEW_LOCKS, START + 40)
    assert schedule.claim(newer, START + 40)
    assert not schedule.claim(older, START + 40)


def test_of_several_missed_slots_only_the_newest_is_due(schedule: Schedule) -> None:
    assert [slot.number for slot in schedule.due(START + 95)] == [50_004]


def test_a_clock_that_goes_back_runs_nothing_twice(schedule: Schedule) -> None:
    (slot,) = schedule.due(START + 40)
    schedule.claim(slot, START + 40)
    assert schedule.due(START + 20) == []


DAY = 86_400.0


def test_a_clock_put_back_by_a_day_holds_up_nothing(schedule: Schedule) -> None:
    ahead = START + DAY
    assert schedule.claim(schedule.current(Timer.RENEW_LOCKS, ahead), ahead)
    back = START + 47
    assert schedule.next_due(back) == back
    (slot,) = schedule.due(back)
    assert schedule.claim(slot, back)
    assert not schedule.claim(slot, back)
    assert schedule.next_due(back) == START + 60


def test_a_slot_that_the_clock_has_not_reached_is_refused(schedule: Schedule) -> None:
    ahead = schedule.current(Timer.RENEW_LOCKS, START + DAY)
    assert not schedule.claim(ahead, START + 20)
    assert schedule.claim(schedule.current(Timer.RENEW_LOCKS, START + 20), START + 20)


@pytest.mark.parametrize(("period", "allowed"), [(20.0, 5.0), (5.0, 1.25), (60.0, 5.0)])
def test_a_tick_may_be_late_by_a_quarter_or_five_seconds(
    period: float, allowed: float
) -> None:
    schedule = Schedule(0.0, {Timer.REBALANCE: period})
    assert schedule.overdue(period + allowed - 0.01) == []
    assert len(schedule.overdue(period + allowed)) == 1


def test_a_taken_slot_is_never_overdue(schedule: Schedule) -> None:
    schedule.claim(schedule.current(Timer.RENEW_LOCKS, START + 20), START + 20)
    assert schedule.overdue(START + 39) == []


def test_slots_that_waited_while_the_process_stood_still_are_dropped() -> None:
    schedule = Schedule(1000.0, PULSE)
    waited = [slot_at("pulse", 1.0, 1000.0 + second) for second in range(1, 31)]
    taken = [slot.number for slot in waited if schedule.claim(slot, 1030.2)]
    assert taken == [1029, 1030]


def test_timers_of_others_are_not_ours(schedule: Schedule) -> None:
    assert not schedule.claim(Slot("other", 9999, 0.0), START)
    assert schedule.left_out(Slot("other", 9999, 0.0)) == 0


def test_counts_the_slots_that_nobody_ran() -> None:
    schedule = Schedule(1000.0, PULSE)
    assert schedule.left_out(slot_at("pulse", 1.0, 1001.0)) == 0
    assert schedule.left_out(slot_at("pulse", 1.0, 1009.5)) == 8
    schedule.claim(slot_at("pulse", 1.0, 1009.5), 1009.5)
    assert schedule.left_out(slot_at("pulse", 1.0, 1010.0)) == 0
    assert schedule.left_out(slot_at("pulse", 1.0, 1003.0)) == 0


def test_the_next_due_time_is_that_of_the_nearest_timer() -> None:
    schedule = Schedule(START, TWO)
    assert schedule.next_due(START + 1) == START + 5
    schedule.claim(schedule.current(Timer.PERSIST_OFFSETS, START + 15), START + 15)
    assert schedule.next_due(START + 15) == START + 20


def test_what_is_due_already_is_due_now() -> None:
    schedule = Schedule(START, TWO)
    assert schedule.next_due(START + 33) == START + 33


def test_the_timers_of_a_schedule_are_listed() -> None:
    assert list(Schedule(START, TWO).timers) == list(TWO)


@given(st.lists(st.floats(0, 10_000), max_size=60))
def test_no_slot_is_claimed_twice_unless_the_clock_goes_back(
    times: list[float],
) -> None:
    schedule = Schedule(0.0)
    claimed: list[tuple[Timer, int]] = []
    for now in sorted(times):
        for timer in Timer:
            slot = schedule.current(timer, now)
            if schedule.claim(slot, now):
                claimed.append((timer, slot.number))
    assert len(claimed) == len(set(claimed))


@given(st.lists(st.floats(0.01, 40), min_size=1, max_size=60))
def test_whoever_waits_for_the_due_time_finds_something_due(waits: list[float]) -> None:
    schedule = Schedule(0.0)
    now = 0.0
    for wait in waits:
        now = max(now + wait, schedule.next_due(now))
        due = schedule.next_due(now)
        slots = schedule.due(due)
        assert all(schedule.claim(slot, due) for slot in slots)
        assert schedule.next_due(now) > now or not schedule.due(now)
