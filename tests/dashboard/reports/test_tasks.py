from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dashboard.config.celery import ANALYTICS_QUEUE, app
from dashboard.reports import tasks

from .finished import finished_run


def test_tasks_go_to_the_queue_of_analytics() -> None:
    app.loader.import_default_modules()
    for task in (tasks.run, tasks.expire_old_reports):
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


def test_beat_asks_for_old_reports_to_go() -> None:
    entries = app.conf.beat_schedule.values()
    assert tasks.expire_old_reports.name in {entry["task"] for entry in entries}
