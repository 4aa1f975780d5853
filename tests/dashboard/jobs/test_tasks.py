from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from analytics import contracts as c
from analytics.lake.ladder import PEAKS, dataset_of
from analytics.lake.manifest import load_manifest
from analytics.lake.storage import open_storage
from analytics.lake.writer import LandingWriter
from dashboard.config.celery import ANALYTICS_QUEUE, app
from dashboard.jobs import tasks
from tests.analytics.memory import MemoryStorage
from tests.analytics.rows import HOUR, MINUTE, START_MS, sample_columns
from tests.analytics.rungs import carry_peaks, put_peaks
from tests.dashboard.jobs.conftest import GivenTime


def test_tasks_go_to_the_queue_of_analytics() -> None:
    app.loader.import_default_modules()
    for task in (tasks.roll_up, tasks.maintain_lake, tasks.expire_old_rows):
        assert task.name in app.tasks
        route = app.amqp.router.route({}, task.name)
        assert route["queue"].name == ANALYTICS_QUEUE


def test_beat_asks_for_maintenance() -> None:
    entries = app.conf.beat_schedule.values()
    asked = {entry["task"] for entry in entries}
    assert {tasks.maintain_lake.name, tasks.roll_up.name} <= asked
    assert tasks.expire_old_rows.name in asked


def test_maintenance_lists_merges_and_lets_go(
    settings: Any, tmp_path: Path, given_time: GivenTime
) -> None:
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    writer = LandingWriter(str(tmp_path), run_id="run")
    for minute in range(12):
        writer.append(sample_columns(START_MS + minute * MINUTE))
    writer.close(START_MS)
    given_time.settled = False
    done = tasks.maintain_lake()
    assert done == {"merged": 12, "retired": 0, "deleted": 0, "epochs": 0}
    manifest = load_manifest(open_storage(str(tmp_path)), c.SAMPLES)
    assert len(manifest.files) == 1, "the clock may have jumped"
    given_time.settled = True
    done = tasks.maintain_lake()
    # Rows of months ago are merged, and then too old to be kept.
    assert done == {"merged": 0, "retired": 1, "deleted": 0, "epochs": 0}
    manifest = load_manifest(open_storage(str(tmp_path)), c.SAMPLES)
    assert manifest.files == ()
    assert len(manifest.retired) == 13


def test_maintenance_keeps_each_rung_as_long_as_the_settings_say(
    settings: Any, monkeypatch: pytest.MonkeyPatch, given_time: GivenTime
) -> None:
    settings.ROCKETSCOPE_ROLLUP_DAYS = (2, 3, 4)
    now_ms = int(time.time() * 1000)
    storage = MemoryStorage(lambda: now_ms)
    monkeypatch.setattr(tasks, "open_storage", lambda _url: storage)
    for number, days in enumerate((5, 3.5, 2.5, 1) * 25):
        put_peaks(storage, number, now_ms - int(days * 24 * HOUR))
    carry_peaks(storage, now_ms)
    # A file has ten batches or a hundred, and goes when the last of them may.
    assert tasks.maintain_lake()["retired"] == 0
    for number in range(100, 200):
        put_peaks(storage, number, now_ms - int(3.5 * 24 * HOUR))
    carry_peaks(storage, now_ms)
    assert tasks.maintain_lake()["retired"] == 10 + 1
    names = [dataset_of(PEAKS, level) for level in c.ROLLUP_LEVELS]
    left = [len(load_manifest(storage, name).files) for name in names]
    assert left == [10, 1, 2]
