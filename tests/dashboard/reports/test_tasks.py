from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from kombu.exceptions import OperationalError

from dashboard.config.celery import ANALYTICS_QUEUE, app
from dashboard.models import JobRun
from dashboard.reports import tasks
from tests.dashboard.jobs.conftest import GivenTime

from .finished import finished_run


def test_tasks_go_to_the_queue_of_analytics() -> None:
    app.loader.import_default_modules()
    for task in (tasks.run, tasks.warm, tasks.make_waiting, tasks.expire_old_reports):
        assert task.name in app.tasks
        route = app.amqp.router.route({}, task.name)
        assert route["queue"].name == ANALYTICS_QUEUE


@pytest.mark.django_db
def test_a_run_that_was_made_gets_its_files(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    run = finished_run(tmp_path)
    run.formats = ["csv"]
    run.save()
    monkeypatch.setattr(tasks, "run_claimed", lambda _pk, _child: True)
    assert tasks.run(run.pk)
    assert [file.format for file in run.files.all()] == ["csv"]
    monkeypatch.setattr(tasks, "run_claimed", lambda _pk, _child: False)
    run.files.all().delete()
    assert not tasks.run(run.pk)
    assert not run.files.exists(), "somebody else has it"


@pytest.mark.django_db
def test_nothing_expires_until_the_clock_has_gone_evenly(
    lake: Path, given_time: GivenTime
) -> None:
    run = finished_run(lake)
    JobRun.objects.update(keep_until=run.asked_at - timedelta(seconds=1))
    given_time.settled = False
    assert tasks.expire_old_reports() == 0
    given_time.settled = True
    assert tasks.expire_old_reports() == 1


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that were made, in their order, without making them."""
    done: list[int] = []

    def make(pk: int, _child: object) -> bool:
        done.append(pk)
        return bool(JobRun.objects.filter(pk=pk).update(state=JobRun.State.DONE))

    monkeypatch.setattr(tasks, "run_claimed", make)
    return done


def queued(group: str, **values: Any) -> int:
    moment = timezone.now()
    run = JobRun(job="report", cluster="hangzhou", group=group, **values)
    run.since = run.until = run.asked_at = moment
    run.save()
    return run.pk


@pytest.mark.django_db
def test_what_waits_longest_is_made_first_and_the_rest_is_asked_for(
    made: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(tasks.make_waiting, "delay", lambda: asked.append(1))
    first, second = queued("settlement"), queued("clearing")
    assert tasks.make_waiting()
    assert (made, len(asked)) == ([first], 1)
    assert tasks.make_waiting()
    assert (made, len(asked)) == ([first, second], 1)
    assert not tasks.make_waiting()


@pytest.mark.django_db
def test_runs_that_do_not_wait_are_left_alone(made: list[int]) -> None:
    queued("settlement", state=JobRun.State.RUNNING)
    queued("clearing", cancel_asked=True)
    assert not tasks.make_waiting()
    assert made == []


@pytest.mark.django_db
def test_a_queue_that_is_away_costs_no_report(
    made: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(tasks.make_waiting, "delay", away)
    first, _second = queued("settlement"), queued("clearing")
    assert tasks.make_waiting()
    assert made == [first]


def test_beat_asks_for_waiting_reports_and_for_old_ones_to_go() -> None:
    asked = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert {tasks.make_waiting.name, tasks.expire_old_reports.name} <= asked
