from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dashboard import models
from dashboard.clock.ticks import Tick
from dashboard.fleet.runs import (
    remove_old_runs,
    save_runs,
    skipped_run,
    slot_run,
)
from rmqcore.client import TimerRun
from rmqcore.timers import Timer

TICK = Tick("rebalance", 51, 1020.0, "beat@h")


def run(error: str | None = None) -> TimerRun:
    return TimerRun(Timer.REBALANCE, 51, 1_020_000, 1_020_050, 3.0, "beat@h", error)


@pytest.mark.parametrize(
    ("runs", "outcome"),
    [
        ([], "done"),
        ([run(), run()], "done"),
        ([run(), run("no route")], "partly"),
        ([run("no route")], "failed"),
    ],
)
def test_the_runs_of_the_members_are_one(runs: list[TimerRun], outcome: str) -> None:
    made = slot_run(TICK, 1020.05, 4.0, runs)
    assert (made.outcome, made.members) == (outcome, len(runs))


@pytest.mark.django_db
def test_a_run_is_written_with_due_start_and_asker() -> None:
    save_runs("w1", [slot_run(TICK, 1020.05, 4.0, [run(), run("b"), run("a")])])
    row = models.TimerRun.objects.get()
    assert row.due == datetime.fromtimestamp(1020, UTC)
    assert row.started - row.due == timedelta(milliseconds=50)
    assert (row.asked_by, row.members, row.error) == ("beat@h", 3, "a\nb")


@pytest.mark.django_db
def test_a_slot_is_there_once_per_worker() -> None:
    save_runs("w1", [slot_run(TICK, 1020.05, 4.0, [])])
    save_runs("w1", [slot_run(TICK, 1022.0, 9.0, [])])
    save_runs("w2", [slot_run(TICK, 1020.05, 4.0, [])])
    rows = models.TimerRun.objects.order_by("worker")
    assert [(row.worker, row.took_ms) for row in rows] == [("w1", 4.0), ("w2", 4.0)]


@pytest.mark.django_db
def test_runs_older_than_a_day_are_removed() -> None:
    save_runs("w1", [slot_run(TICK, 1020.05, 4.0, [])])
    day_ms = 24 * 3_600_000
    remove_old_runs(None)
    remove_old_runs(1_020_000 + day_ms)
    assert models.TimerRun.objects.exists()
    remove_old_runs(1_020_000 + day_ms + 1000)
    assert not models.TimerRun.objects.exists()


@pytest.mark.django_db
def test_the_oldest_of_too_many_runs_are_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dashboard.fleet.runs.MOST_ROWS", 2)
    for slot in range(4):
        tick = Tick("rebalance", slot, slot * 20.0, "beat@h")
        save_runs("w1", [slot_run(tick, slot * 20.0, 4.0, [])])
    remove_old_runs(None)
    rows = models.TimerRun.objects.order_by("slot")
    assert [row.slot for row in rows] == [2, 3]


def test_a_slot_that_was_left_out_says_so() -> None:
    made = skipped_run(TICK, 1020.05)
    assert (made.outcome, made.members, made.took_ms) == ("skipped", 0, 0.0)
