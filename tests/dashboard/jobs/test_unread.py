from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from analytics.lake.retention import RAW_KEPT_MS, GivenUp
from analytics.lake.storage import open_storage
from analytics.lake.writer import LandingWriter
from dashboard.jobs import tasks
from dashboard.jobs.unread import TOLD_SECONDS, note_given_up
from dashboard.live.names import lake_gap_key
from dashboard.live.state import live_state
from tests.analytics.rows import HOUR, MINUTE, START_MS, sample_columns

NOW = START_MS + 60 * HOUR


def test_what_is_given_up_adds_up_and_is_forgotten_in_a_day(valkey: object) -> None:
    state = live_state()
    assert state.lake_gap("east") is None
    note_given_up([GivenUp("east", 3, START_MS, START_MS + HOUR)], NOW)
    later = [
        GivenUp("east", 2, START_MS + HOUR, START_MS + 2 * HOUR),
        GivenUp("west", 1, START_MS, START_MS),
    ]
    note_given_up(later, NOW + HOUR)
    assert state.lake_gap("east") == {
        "files": 5,
        "first_at": START_MS,
        "last_at": START_MS + 2 * HOUR,
        "at": NOW + HOUR,
    }
    seconds = state.client.ttl(lake_gap_key("east"))
    assert 0 < int(str(seconds)) <= TOLD_SECONDS


@pytest.mark.parametrize("url", ["", "redis://127.0.0.1:1/0"])
def test_a_cache_that_is_away_holds_no_maintenance_up(url: str, settings: Any) -> None:
    settings.ROCKETSCOPE_REDIS_URL = url
    note_given_up([GivenUp("east", 3, START_MS, START_MS)], NOW)


@pytest.mark.usefixtures("given_time")
def test_maintenance_tells_of_samples_that_no_roll_up_has_read(
    valkey: object,
    settings: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Two minutes land and no roll-up ever runs."""
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    storage = open_storage(str(tmp_path))
    writer = LandingWriter(storage, run_id="run")
    for minute in range(2):
        writer.append(sample_columns(START_MS + minute * MINUTE))
    writer.close(START_MS)
    for at, file in enumerate(storage.list_files("landing")):
        written = START_MS // 1000 + 60 * at
        os.utime(tmp_path / file.path, (written, written))
    clock = START_MS + RAW_KEPT_MS + 2 * MINUTE
    monkeypatch.setattr(time, "time", lambda: clock / 1000)
    assert tasks.maintain_lake()["deleted"] == 0, "retired a moment ago"
    clock += 2 * HOUR
    assert tasks.maintain_lake()["deleted"] == 2
    assert "landing files given up: 2," in caplog.text
    gap = live_state().lake_gap("hangzhou")
    assert gap is not None
    assert (gap["files"], gap["first_at"]) == (2, START_MS)
    assert gap["last_at"] == START_MS + MINUTE
