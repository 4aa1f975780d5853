from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from analytics.lake.writer import LandingWriter
from dashboard.jobs.rolling import NAME, run_rollup
from tests.analytics.rows import START_MS, sample_columns

from .conftest import MakeChild


@pytest.fixture
def lake(tmp_path: Path) -> str:
    writer = LandingWriter(str(tmp_path), run_id="run")
    writer.append(sample_columns(START_MS))
    writer.close(START_MS)
    return str(tmp_path)


@pytest.mark.parametrize(
    ("behaviour", "is_done"),
    [("done", True), ("fails", False), ("dies", False), ("exits", False)],
)
def test_a_run_is_followed_to_its_end(
    make_child: MakeChild, lake: str, behaviour: str, is_done: bool
) -> None:
    assert run_rollup(lake, make_child(**{NAME: behaviour})) is is_done


def test_no_process_is_started_for_an_empty_lake(
    make_child: MakeChild, tmp_path: Path
) -> None:
    child = make_child(**{NAME: "done"})
    assert not run_rollup(str(tmp_path), child)
    assert child.pid is None


def test_a_run_over_its_time_is_killed(make_child: MakeChild, lake: str) -> None:
    child = make_child(**{NAME: "hangs"})
    hours = itertools.count(time.monotonic(), 3600.0)
    assert not run_rollup(lake, child, now=lambda: next(hours))
    assert child.pid is None
