from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from celery import Celery

from dashboard.clock.beat import (
    MOST_WAITING,
    Boundaries,
    TickScheduler,
    tick_entries,
)
from dashboard.clock.ticks import COLLECTOR_PERIOD_S, START_REPORTS, TICK_COMMAND
from dashboard.config.celery import app as real_app
from dashboard.live.names import BEAT_KEY
from dashboard.live.state import live_state
from rmqcore.timers import PERIOD_S
from tests.support.valkey import Valkey

EPOCH = datetime(2026, 3, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return EPOCH + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("last", "now", "due", "wait"),
    [
        (0.5, 3.0, False, 17.0),
        (0.5, 20.0, True, 20.0),
        (19.9, 20.1, True, 19.9),
        (20.1, 39.9, False, 0.1),
        (0.5, 65.0, True, 15.0),
        (86_400.5, 3.0, True, 17.0),
    ],
)
def test_due_once_in_each_slot_of_the_wall_clock(
    last: float, now: float, due: bool, wait: float
) -> None:
    schedule = Boundaries(20.0, nowfun=lambda: at(now), app=real_app)
    state = schedule.is_due(at(last))
    assert state.is_due is due
    assert state.next == pytest.approx(wait)


def test_every_timer_of_fleet_and_collector_has_its_tick() -> None:
    entries = tick_entries()
    timers = [*PERIOD_S, *COLLECTOR_PERIOD_S, START_REPORTS]
    assert set(entries) == {f"tick.{timer}" for timer in timers}
    assert {entry["task"] for entry in entries.values()} == {TICK_COMMAND}
    assert entries["tick.renew_locks"]["kwargs"] == {
        "timer": "renew_locks",
        "period": 20.0,
    }


class Mailbox:
    """Takes broadcasts in the place of the workers."""

    def __init__(self) -> None:
        self.broadcasts: list[tuple[str, dict[str, Any]]] = []
        self.fails: Exception | None = None

    def broadcast(self, command: str, arguments: dict[str, Any], reply: bool) -> None:
        assert reply is False
        if self.fails is not None:
            raise self.fails
        self.broadcasts.append((command, arguments))


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def scheduler(mailbox: Mailbox, valkey: Valkey) -> TickScheduler:
    app = Celery("test", broker="memory://", set_as_current=False)
    app.control = mailbox
    return TickScheduler(app)


def entry(scheduler: TickScheduler, name: str) -> Any:
    return scheduler.schedule[name]


def test_a_tick_is_broadcast_with_its_slot(
    scheduler: TickScheduler, mailbox: Mailbox
) -> None:
    before = time.time()
    scheduler.apply_entry(entry(scheduler, "tick.rebalance"))
    ((command, tick),) = mailbox.broadcasts
    assert (command, tick["timer"]) == (TICK_COMMAND, "rebalance")
    assert tick["slot"] in (before // 20, time.time() // 20)
    assert tick["due"] == tick["slot"] * 20
    assert tick["asked_by"].startswith("beat@")


def test_the_shortest_tick_leaves_a_pulse(scheduler: TickScheduler) -> None:
    scheduler.apply_entry(entry(scheduler, "tick.rebalance"))
    assert live_state().client.get(BEAT_KEY) is None
    before = time.time()
    scheduler.apply_entry(entry(scheduler, "tick.sweep_watched"))
    pulse = orjson.loads(live_state().client.get(BEAT_KEY))  # type: ignore[arg-type]
    assert pulse["at"] >= before * 1000 - 1


def test_a_lost_broker_is_logged_and_beat_goes_on(
    scheduler: TickScheduler, mailbox: Mailbox, caplog: pytest.LogCaptureFixture
) -> None:
    mailbox.fails = ConnectionRefusedError("127.0.0.1:6379")
    scheduler.apply_entry(entry(scheduler, "tick.rebalance"))
    assert "tick.rebalance not sent: 127.0.0.1:6379" in caplog.text


def test_the_first_ticks_come_with_the_next_boundaries(
    scheduler: TickScheduler, mailbox: Mailbox
) -> None:
    wait = scheduler.tick()
    assert mailbox.broadcasts == []
    assert 0 <= wait <= 1.0


def test_it_wakes_on_the_boundary_not_before_it(scheduler: TickScheduler) -> None:
    assert scheduler.adjust(0.25) == 0.25
    assert scheduler.adjust(-1.0) == 0.0


@pytest.mark.usefixtures("valkey")
def test_tasks_of_the_configuration_stay_tasks(mailbox: Mailbox) -> None:
    app = Celery("test", broker="memory://", set_as_current=False)
    app.control = mailbox
    app.conf.beat_schedule = {
        "roll-up": {"task": "dashboard.jobs.roll_up", "schedule": 60.0}
    }
    sent: list[str] = []
    app.send_task = lambda name, *_a, **_k: sent.append(name)  # type: ignore[method-assign]
    scheduler = TickScheduler(app)
    scheduler.apply_entry(entry(scheduler, "roll-up"))
    assert sent == ["dashboard.jobs.roll_up"]
    assert mailbox.broadcasts == []


def test_a_queue_that_nobody_reads_stops_growing(valkey: Valkey) -> None:
    app = Celery("test", broker=valkey.url, set_as_current=False)
    app.conf.task_routes = {"dashboard.jobs.*": {"queue": "analytics"}}
    app.conf.beat_schedule = {
        "roll-up": {"task": "dashboard.jobs.roll_up", "schedule": 60.0}
    }
    scheduler = TickScheduler(app)
    client = live_state().client
    for _ in range(MOST_WAITING + 5):
        scheduler.apply_entry(entry(scheduler, "roll-up"))
    assert client.llen("analytics") == MOST_WAITING
    client.lpop("analytics")
    scheduler.apply_entry(entry(scheduler, "roll-up"))
    assert client.llen("analytics") == MOST_WAITING
    app.close()


def test_no_timer_stands_still_when_the_clock_goes_ahead_and_back(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = [at(0.5)]
    app = Celery("test", broker="memory://", set_as_current=False)
    app.control = mailbox
    app.conf.beat_schedule = {
        "roll-up": {"task": "dashboard.jobs.roll_up", "schedule": 600.0}
    }
    app.now = lambda: moment[0]  # type: ignore[method-assign]
    scheduler = TickScheduler(app)
    del scheduler.schedule["celery.backend_cleanup"]  # once a day, by the hour
    sent: list[str] = []
    monkeypatch.setattr(
        scheduler, "apply_entry", lambda one, **_: sent.append(one.name)
    )
    for each in scheduler.schedule.values():
        monkeypatch.setattr(each.schedule, "nowfun", lambda: moment[0])

    def runs_from(start: float, seconds: int) -> set[str]:
        sent.clear()
        for second in range(seconds):
            moment[0] = at(start + second)
            while scheduler.tick() == 0:
                pass
        return set(sent)

    all_of_them = set(scheduler.schedule)
    assert runs_from(0.5, 601) == all_of_them
    assert runs_from(86_400.5, 2) == all_of_them, "each is late by a day"
    assert runs_from(610.5, 2) == all_of_them, "each slot is another one than the last"
    assert runs_from(612.5, 601) == all_of_them
