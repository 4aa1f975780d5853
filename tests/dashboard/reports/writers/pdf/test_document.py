"""The PDF is read back by pypdf and compared with the numbers of the page."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pypdf
import pytest
from django.utils import translation

from dashboard.models import JobRun
from dashboard.reports.data.stats import stats_of
from dashboard.reports.data.twins import Twin, twin_of
from dashboard.reports.report import Report
from dashboard.reports.request.axis import Axis
from dashboard.reports.writers.fonts import BOLD, FOLDER, REGULAR
from dashboard.reports.writers.html_file import Chart, charts_of
from dashboard.reports.writers.pdf import document
from dashboard.reports.writers.pdf.document import write_pdf
from dashboard.reports.writers.pdf.scales import (
    Box,
    TimeScale,
    count_scale,
    nice_step,
)
from tests.dashboard.reports.finished import finished_run, two_epochs

pytestmark = pytest.mark.django_db

SHANGHAI = ZoneInfo("Asia/Shanghai")
MOST_FONT_BYTES = 3_000_000


@pytest.fixture
def run(lake: Path) -> JobRun:
    two_epochs()
    return finished_run(lake)


def pages(run: JobRun, folder: Path, paper: str = "a4") -> list[str]:
    return [page.extract_text() for page in reader(run, folder, paper).pages]


def reader(run: JobRun, folder: Path, paper: str = "a4") -> pypdf.PdfReader:
    file = folder / "report.pdf"
    write_pdf(Report(run, SHANGHAI, "UTC+8"), file, paper)
    return pypdf.PdfReader(file)


def test_the_figures_of_the_page_stand_in_it(run: JobRun, tmp_path: Path) -> None:
    text = "\n".join(pages(run, tmp_path))
    for stat in stats_of(Report(run, SHANGHAI)):
        assert stat.name in text
        assert (stat.value or "—") in text
    assert "Nothing was collected for 4 m 00 s, in 2 spans." in text
    assert "2026-03-13 08:00 – 2026-03-13 08:10 (UTC+8)" in text


def test_each_row_of_each_table_stands_in_it(run: JobRun, tmp_path: Path) -> None:
    lines = "\n".join(pages(run, tmp_path)).splitlines()
    text = " ".join(lines)
    for name in ("lag", "queues", "strategies", "members"):
        for row in twin_of(Report(run, SHANGHAI), name).rows:
            for cell in row:
                assert (cell or "—") in text, (name, row)


def test_unknown_is_a_dash_never_a_zero(run: JobRun, tmp_path: Path) -> None:
    rows = twin_of(Report(run, SHANGHAI), "lag").rows
    assert rows[0][3] is None
    assert "—" in "\n".join(pages(run, tmp_path))


def test_pages_are_numbered_and_heads_repeated(
    run: JobRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twin = twin_of(Report(run, SHANGHAI), "lag")
    long = Twin(twin.heads, list(twin.rows) * 30)

    def charts(*_args: object) -> list[Chart]:
        return [
            replace(chart, twin=long) if chart.name == "lag" else chart
            for chart in charts_of(Report(run, SHANGHAI))
        ]

    monkeypatch.setattr(document, "charts_of", charts)
    texts = pages(run, tmp_path)
    assert len(texts) >= 4
    for number, text in enumerate(texts, start=1):
        assert f"Page {number} of {len(texts)}" in text
    headed = [text for text in texts if "Queues known" in text]
    assert len(headed) >= 3, "the head stands on every page that the table reaches"


def test_a_table_too_long_for_paper_says_where_the_rest_is(
    run: JobRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "TWIN_ROWS", 3)
    assert "5 more rows are in the CSV" in "\n".join(pages(run, tmp_path))


def test_rows_of_seconds_are_left_to_the_files(lake: Path, tmp_path: Path) -> None:
    two_epochs()
    run = finished_run(lake, step=timedelta(seconds=10))
    text = "\n".join(pages(run, tmp_path))
    assert "The rows of 10 s are in the CSV, XLSX and Parquet files." in text
    assert "Lag and age: the numbers" not in text
    assert "Members over time: the numbers" in text


@pytest.mark.parametrize(
    ("paper", "width", "height"), [("a4", 595, 842), ("letter", 612, 792)]
)
def test_it_fits_the_paper(
    run: JobRun, tmp_path: Path, paper: str, width: int, height: int
) -> None:
    box = reader(run, tmp_path, paper).pages[0].mediabox
    assert (round(box.width), round(box.height)) == (width, height)


def test_chinese_is_drawn_with_glyphs_and_found_as_text(
    lake: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run = finished_run(lake)
    run.name = "杭州订单结算积压周报"
    run.asked_by_name = "欧阳淼"
    with translation.override("zh-hans"), caplog.at_level(logging.WARNING, "fpdf"):
        text = "\n".join(pages(run, tmp_path))
    assert "杭州订单结算积压周报" in text
    assert "欧阳淼" in text
    assert "峰值堆积" in text
    assert "missing" not in caplog.text


def test_a_report_of_all_groups_lists_the_worst(lake: Path, tmp_path: Path) -> None:
    run = finished_run(lake, group="", groups=("alpha", "beta"))
    text = "\n".join(pages(run, tmp_path))
    assert "Worst groups" in text
    table = text[text.index("Worst groups") :]
    assert table.index("beta") < table.index("2,700") < table.index("alpha")
    assert "Skew over time" not in text


def test_charts_are_lines_not_pictures(run: JobRun, tmp_path: Path) -> None:
    first = reader(run, tmp_path).pages[0]
    assert not first.images
    operators = first.get_contents().get_data().split()  # type: ignore[union-attr]
    assert operators.count(b"l") > 50


def test_the_fonts_are_small_and_have_their_licence() -> None:
    assert sum((FOLDER / f).stat().st_size for f in (REGULAR, BOLD)) < MOST_FONT_BYTES
    assert "SIL OPEN FONT LICENSE" in (FOLDER / "OFL.txt").read_text()


@pytest.mark.parametrize(
    ("least", "step"), [(0.3, 0.5), (1, 1), (1.1, 2), (2.2, 2.5), (26, 50), (600, 1000)]
)
def test_ticks_are_round(least: float, step: float) -> None:
    assert nice_step(least) == pytest.approx(step)


def test_a_scale_of_nothing_has_a_zero() -> None:
    scale, ticks = count_scale(0, Box(0, 0, 100, 50))
    assert [tick.text for tick in ticks] == ["0", "1"]
    assert scale.at(0) == 50


def test_days_are_marked_at_midnight_of_the_zone() -> None:
    since = datetime(2026, 3, 28, 12, tzinfo=UTC)
    berlin = ZoneInfo("Europe/Berlin")  # summer time begins on the 29th
    axis = Axis(since, since + timedelta(days=4), timedelta(hours=1), berlin)
    ticks = TimeScale(axis, Box(0, 0, 96, 10)).ticks()
    midnights = [tick for tick in ticks if ":" not in tick.text]
    assert [tick.text for tick in midnights] == ["03-29", "03-30", "03-31", "04-01"]
    assert [round(tick.at) for tick in midnights] == [11, 34, 58, 82]
