from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest
from celery.worker.control import Panel

from dashboard.clock.ending import (
    HAND_BACK_SECONDS,
    KILL_AFTER_SECONDS,
    LOOP_SECONDS,
)
from dashboard.clock.ticks import TICK_COMMAND, Tick, deliver
from dashboard.config import worker as worker_module
from dashboard.config.celery import ROLES, app
from dashboard.config.worker import ROLE_MAKERS, Roles
from tests.support.waiting import PATIENCE_SECONDS


class Recorder:
    """A role that writes down what happens to it."""

    def __init__(self, name: str, story: list[object]) -> None:
        self.name = name
        self.story = story

    def start(self) -> None:
        self.story.append(f"{self.name} started")

    def stop(self) -> None:
        self.story.append(f"{self.name} stopped")

    def receive(self, tick: Tick) -> None:
        self.story.append((self.name, tick.timer, tick.number))


@pytest.fixture
def story(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    story: list[object] = []
    for name in ROLES:
        monkeypatch.setitem(
            ROLE_MAKERS, name, lambda _worker, name=name: Recorder(name, story)
        )
    return story


def roles_of(*names: str) -> tuple[Roles, SimpleNamespace]:
    worker = SimpleNamespace(hostname="w1@h")
    return Roles(worker, roles=names), worker


def test_every_role_can_be_made() -> None:
    assert set(ROLE_MAKERS) == set(ROLES)


def test_roles_start_in_order_and_stop_once(story: list[object]) -> None:
    step, worker = roles_of("collector", "fleet")
    step.start(worker)
    step.stop(worker)
    step.stop(worker)
    assert story[:2] == ["collector started", "fleet started"]
    assert sorted(map(str, story[2:])) == ["collector stopped", "fleet stopped"]


def test_no_role_waits_for_another_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(2, timeout=PATIENCE_SECONDS)

    class Meeting(Recorder):
        def stop(self) -> None:
            together.wait()

    for name in ("fleet", "labs"):
        monkeypatch.setitem(ROLE_MAKERS, name, lambda _worker: Meeting("x", []))
    step, worker = roles_of("fleet", "labs")
    step.start(worker)
    step.stop(worker)
    assert not together.broken


def test_a_worker_has_ended_before_it_is_killed() -> None:
    assert HAND_BACK_SECONDS + LOOP_SECONDS < KILL_AFTER_SECONDS


def test_the_tick_command_reaches_every_role(story: list[object]) -> None:
    step, worker = roles_of("collector", "fleet")
    step.start(worker)
    handler = Panel.data[TICK_COMMAND]
    handler(None, timer="rebalance", slot=51, due=1020.0, asked_by="beat@h")
    step.stop(worker)
    assert [each for each in story if isinstance(each, tuple)] == [
        ("collector", "rebalance", 51),
        ("fleet", "rebalance", 51),
    ]


def test_stopped_roles_hear_nothing(story: list[object]) -> None:
    step, worker = roles_of("fleet")
    step.start(worker)
    step.stop(worker)
    deliver(Tick("rebalance", 51, 1020.0, "beat@h"))
    assert story == ["fleet started", "fleet stopped"]


def test_a_worker_without_roles_runs_tasks(story: list[object]) -> None:
    step, worker = roles_of()
    step.start(worker)
    assert story == []
    assert "dashboard.jobs.run" in app.tasks


def test_tasks_of_jobs_have_a_queue_of_their_own() -> None:
    route = app.amqp.router.route({}, "dashboard.jobs.tasks.anything")
    assert route["queue"].name == "analytics"
    assert app.conf.task_default_queue == "rocketscope"


def test_workers_take_roles_on_the_command_line() -> None:
    options = [option.name for option in app.user_options["worker"]]
    assert "roles" in options
    assert worker_module.Roles in app.steps["worker"]
