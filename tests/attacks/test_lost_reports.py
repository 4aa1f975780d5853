"""A queued report whose task Redis forgets, or a killed worker hides."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from celery import Celery
from django.conf import settings as django_settings

from dashboard.clock.beat import TickScheduler
from dashboard.config.celery import ANALYTICS_QUEUE
from dashboard.config.celery import app as real_app
from dashboard.models import JobRun, Role, User
from dashboard.reports import tasks
from dashboard.reports.writes import start_report
from tests.attacks.test_full_redis import full
from tests.dashboard.conftest import SignIn
from tests.dashboard.jobs.conftest import MakeChild, make_child
from tests.support.valkey import Valkey
from tests.support.waiting import PATIENCE_SECONDS

__all__ = ["make_child"]

pytestmark = pytest.mark.django_db(transaction=True)

SINCE = datetime(2026, 3, 13, tzinfo=UTC)
State = JobRun.State

VICTIM = """
import os, signal, sys
from kombu import Connection
taken = Connection(sys.argv[1]).SimpleQueue(sys.argv[2]).get(timeout=30)
os.kill(os.getpid(), signal.SIGKILL)
"""
"""A worker that has taken a task, has not acknowledged it, and is killed."""

work_queue = Celery("test", set_as_current=False)


@pytest.fixture(autouse=True)
def queue(valkey: Valkey, settings: Any, tmp_path: Path) -> Iterator[None]:
    """The real configuration, with the test's Valkey for the work queue."""
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    settings.CELERY_APPLICATION = f"{__name__}.work_queue"
    assert django_settings.CELERY_APPLICATION == settings.CELERY_APPLICATION
    work_queue.conf.update(
        broker_url=valkey.url,
        task_routes=real_app.conf.task_routes,
        beat_schedule=real_app.conf.beat_schedule,
        broker_transport_options=real_app.conf.broker_transport_options,
    )
    yield
    work_queue.close()


def queued() -> JobRun:
    olga, _made = User.objects.get_or_create(username="olga", role=Role.OPERATOR)
    return start_report(
        cluster="hangzhou",
        group="settlement",
        since=SINCE,
        until=SINCE + timedelta(hours=1),
        by=olga,
    )


def waiting_tasks() -> int:
    with redis.Redis.from_url(django_settings.ROCKETSCOPE_REDIS_URL) as client:
        return int(client.llen(ANALYTICS_QUEUE))


def beat_asks() -> None:
    """Let beat send what it sends each minute."""
    scheduler = TickScheduler(work_queue)
    scheduler.apply_entry(scheduler.schedule["make-waiting-reports"])


def work(child: Any, monkeypatch: pytest.MonkeyPatch) -> int:
    """Do all the tasks that wait, as a worker would; return their number."""
    monkeypatch.setattr(tasks, "CHILD", child)
    monkeypatch.setattr(tasks.make_waiting, "delay", lambda: None)
    done = 0
    with work_queue.connection() as connection:
        queue = connection.SimpleQueue(ANALYTICS_QUEUE)
        while waiting_tasks():
            message = queue.get(timeout=30)
            arguments, _named, _embedded = message.payload
            real_app.tasks[message.headers["task"]](*arguments)
            message.ack()
            done += 1
    return done


def child_for(run: JobRun, make_child: MakeChild) -> Any:
    Path(django_settings.ROCKETSCOPE_LAKE_URL, "results").mkdir(exist_ok=True)
    return make_child(**{f"job{run.pk}": "done"})


def test_a_report_outlives_the_loss_of_redis(
    valkey: Valkey, make_child: MakeChild, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = queued()
    assert waiting_tasks() == 1
    valkey.kill()
    valkey.start()
    assert waiting_tasks() == 0, "the task is gone, the row still waits"
    beat_asks()
    assert work(child_for(run, make_child), monkeypatch) == 1
    run.refresh_from_db()
    assert (run.state, run.error) == (State.DONE, "")


def test_a_report_taken_by_a_killed_worker_is_made_by_the_next(
    valkey: Valkey, make_child: MakeChild, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = queued()
    victim = [sys.executable, "-c", VICTIM, valkey.url, ANALYTICS_QUEUE]
    assert subprocess.run(victim, check=False).returncode == -signal.SIGKILL
    assert waiting_tasks() == 0, "hidden until the visibility timeout of 12 hours"
    beat_asks()
    assert work(child_for(run, make_child), monkeypatch) == 1
    run.refresh_from_db()
    assert run.state == State.DONE


def test_a_report_whose_task_was_not_lost_is_made_once(
    make_child: MakeChild, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = queued()
    beat_asks()
    beat_asks()
    child = child_for(run, make_child)
    made: list[str] = []
    really = child.run
    monkeypatch.setattr(
        child, "run", lambda name, request: made.append(name) or really(name, request)
    )
    assert work(child, monkeypatch) == 3
    assert made == [str(run.pk)]


def test_a_report_asked_for_while_redis_is_full_waits_for_room(
    valkey: Valkey,
    make_child: MakeChild,
    monkeypatch: pytest.MonkeyPatch,
    sign_in: SignIn,
) -> None:
    reader, said = sign_in(Role.VIEWER), "Redis has reached its memory limit"
    with full(valkey):
        run = queued()
        beat_asks()
        assert said in reader.get(f"/reports/{run.pk}/").content.decode()
    run.refresh_from_db()
    assert (run.state, waiting_tasks()) == (State.QUEUED, 0)
    beat_asks()
    assert work(child_for(run, make_child), monkeypatch) == 1
    run.refresh_from_db()
    assert (run.state, run.error) == (State.DONE, "")


def test_ticks_reach_workers_while_redis_is_full(valkey: Valkey) -> None:
    with redis.Redis(port=valkey.port) as client, client.pubsub() as worker:
        worker.psubscribe("*pidbox*")
        assert worker.get_message(timeout=PATIENCE_SECONDS)
        with full(valkey):
            scheduler = TickScheduler(work_queue)
            scheduler.apply_entry(scheduler.schedule["tick.rebalance"])
            heard = worker.get_message(timeout=PATIENCE_SECONDS)
    assert heard is not None
    body = json.loads(b64decode(json.loads(heard["data"])["body"]))
    assert body["arguments"]["timer"] == "rebalance"
