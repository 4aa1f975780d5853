from __future__ import annotations

from pathlib import Path

import pypdf
import pytest

from dashboard.models import JobRun
from dashboard.models.report import FORMAT_KEYS
from dashboard.reports.writers import formats
from dashboard.reports.writers.files import keep_files, open_kept
from dashboard.reports.writers.formats import FORMATS, Format
from tests.dashboard.reports.finished import finished_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(lake: Path) -> JobRun:
    run = finished_run(lake)
    run.formats = list(FORMAT_KEYS)
    run.language, run.zone = "zh-hans", "Asia/Shanghai"
    return run


def test_every_format_is_known() -> None:
    assert tuple(FORMATS) == FORMAT_KEYS


def test_each_file_is_kept_beside_the_numbers(run: JobRun, lake: Path) -> None:
    rows = keep_files(run)
    assert [row.format for row in rows] == list(FORMAT_KEYS)
    assert not [row.error for row in rows if row.error]
    for row in rows:
        stored = lake / "results" / run.folder / row.path
        assert stored.stat().st_size == row.size_bytes
    found = open_kept(run, "pdf")
    assert found is not None
    with found[1] as stream:
        text = pypdf.PdfReader(stream).pages[0].extract_text()
    assert "峰值堆积" in text, "in the language that the run names"
    assert "2026-03-13 08:00" in text, "and in its zone"


def test_a_file_that_is_gone_or_was_not_kept_is_made_anew(
    run: JobRun, lake: Path
) -> None:
    run.formats = ["csv"]
    (row,) = keep_files(run)
    assert open_kept(run, "pdf") is None
    (lake / "results" / run.folder / row.path).unlink()
    assert open_kept(run, "csv") is None


def test_one_that_fails_says_why_and_the_others_are_made(
    run: JobRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    broken = Format("html", "HTML", "text/html", False, fail)
    monkeypatch.setattr(formats, "FORMATS", {**FORMATS, "html": broken})
    monkeypatch.setattr(
        "dashboard.reports.writers.files.FORMATS", {**FORMATS, "html": broken}
    )
    rows = {row.format: row for row in keep_files(run)}
    assert "No space left" in rows["html"].error
    assert rows["html"].size_bytes is None
    assert rows["pdf"].size_bytes


def test_a_run_that_is_not_done_gets_none(run: JobRun) -> None:
    run.state = JobRun.State.FAILED
    assert keep_files(run) == []
