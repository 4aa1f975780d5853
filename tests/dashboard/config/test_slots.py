from __future__ import annotations

import pytest

from dashboard.config.slots import Slots
from dashboard.config.ticks import FALLBACK, Tick, tick_at

PERIODS = {"locks": 20.0, "pulse": 1.0}


def tick(now: float, timer: str = "locks", asked_by: str = "beat") -> Tick:
    return tick_at(timer, PERIODS[timer], now, asked_by)


def test_a_tick_names_its_slot_and_when_it_was_due() -> None:
    assert tick(1025.5) == Tick("locks", 51, 1020.0, "beat")


def test_a_slot_is_taken_once_whoever_asks() -> None:
    slots = Slots(PERIODS, 1000.0)
    assert slots.take(tick(1020.0), 1020.0)
    assert not slots.take(tick(1020.1, asked_by="second beat"), 1020.1)
    assert not slots.take(tick(1039.9, asked_by=FALLBACK), 1039.9)
    assert slots.take(tick(1040.0), 1040.0)


def test_the_slot_of_the_start_counts_as_run() -> None:
    assert not Slots(PERIODS, 1005.0).take(tick(1010.0), 1010.0)


def test_an_earlier_slot_is_never_run_after_a_later_one() -> None:
    slots = Slots(PERIODS, 1000.0)
    slots.take(tick(1045.0), 1045.0)
    assert not slots.take(tick(1025.0), 1045.0)


def test_ticks_that_waited_while_the_process_stood_still_are_dropped() -> None:
    slots = Slots(PERIODS, 1000.0)
    late = [tick(1000.0 + second, "pulse") for second in range(1, 31)]
    taken = [each.slot for each in late if slots.take(each, 1030.2)]
    assert taken == [1029, 1030]


def test_timers_of_other_roles_are_ignored() -> None:
    assert not Slots(PERIODS, 1000.0).take(Tick("other", 9999, 0.0, "beat"), 1020.0)


@pytest.mark.parametrize(
    ("now", "late"),
    [(1020.0, []), (1024.9, []), (1025.0, ["locks"]), (1039.0, ["locks"])],
)
def test_a_slot_is_late_after_a_quarter_period_or_five_seconds(
    now: float, late: list[str]
) -> None:
    slots = Slots({"locks": 20.0}, 1000.0)
    assert [each.timer for each in slots.late(now)] == late


def test_short_periods_are_late_after_a_quarter() -> None:
    slots = Slots({"pulse": 1.0}, 1000.0)
    assert slots.late(1001.2) == []
    (found,) = slots.late(1001.25)
    assert found == Tick("pulse", 1001, 1001.0, FALLBACK)


def test_a_taken_slot_is_never_late() -> None:
    slots = Slots({"locks": 20.0}, 1000.0)
    slots.take(tick(1020.0), 1020.0)
    assert slots.late(1039.0) == []


def test_counts_the_slots_that_nobody_ran() -> None:
    slots = Slots(PERIODS, 1000.0)
    assert slots.left_out(tick(1001.0, "pulse")) == 0
    assert slots.left_out(tick(1009.5, "pulse")) == 8
    slots.take(tick(1009.5, "pulse"), 1009.5)
    assert slots.left_out(tick(1010.0, "pulse")) == 0
    assert slots.left_out(tick(1003.0, "pulse")) == 0
    assert slots.left_out(Tick("unknown", 9, 9.0, "beat")) == 0
