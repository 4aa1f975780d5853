from __future__ import annotations

import threading

import pytest
from django.db import OperationalError

from dashboard.clock.ticks import START_REPORTS, Tick
from dashboard.config.worker import ROLE_MAKERS
from dashboard.reports import starting as schedules
from dashboard.reports.lost import LostRuns
from dashboard.reports.starting import ReportSchedules

PATIENCE = 30.0


class Asked:
    """Counts the questions, and fails the first ones."""

    def __init__(self, failures: int = 0) -> None:
        self.times = threading.Semaphore(0)
        self._failures = failures

    def __call__(self) -> None:
        self.times.release()
        if self._failures:
            self._failures -= 1
            raise OperationalError("database is locked")


def tick(timer: str = START_REPORTS) -> Tick:
    return Tick(timer, 1, 10.0, "beat")


@pytest.mark.django_db(transaction=True)
def test_it_asks_at_once_and_at_each_tick_and_survives_a_locked_database() -> None:
    asked = Asked(failures=1)
    role = ReportSchedules("collector@here", asked)
    role.start()
    try:
        assert asked.times.acquire(timeout=PATIENCE), "what was missed while down"
        role.receive(tick())
        assert asked.times.acquire(timeout=PATIENCE)
        role.receive(tick("rebalance"))
        assert not asked.times.acquire(timeout=0.2), "other ticks are not its own"
    finally:
        role.stop()


@pytest.mark.django_db(transaction=True)
def test_without_ticks_it_asks_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "PATIENCE_S", 0.05)
    asked = Asked()
    role = ReportSchedules("collector@here", asked)
    role.start()
    try:
        for _time in range(3):
            assert asked.times.acquire(timeout=PATIENCE)
    finally:
        role.stop()


def test_it_is_a_role_of_a_worker() -> None:
    assert isinstance(ROLE_MAKERS["schedules"]("worker"), ReportSchedules)


@pytest.mark.django_db(transaction=True)
def test_each_look_gives_up_lost_runs_before_it_starts_new_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []
    runs = LostRuns()
    monkeypatch.setattr(runs, "give_up", lambda: done.append("given up"))
    monkeypatch.setattr(
        schedules, "start_due_reports", lambda _now: done.append("started")
    )
    schedules._look_after(runs)()
    assert done == ["given up", "started"]
