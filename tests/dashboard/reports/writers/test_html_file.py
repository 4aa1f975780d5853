"""The HTML file is opened by Chromium from disk, with no network and no server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import translation

from dashboard.models import JobRun
from dashboard.reports.data.stats import stats_of
from dashboard.reports.data.twins import twin_of
from dashboard.reports.figures.gallery import figure_of
from dashboard.reports.report import Report
from dashboard.reports.writers.html_file import html_text, write_html
from tests.dashboard.reports.finished import finished_run, two_epochs
from tests.support.browser import PATIENCE_MS, chromium, find_chromium

pytestmark = pytest.mark.django_db

SHANGHAI = ZoneInfo("Asia/Shanghai")
FIGURES = ["lag", "queues", "skew", "strategies", "members"]
needs_chromium = pytest.mark.skipif(
    find_chromium() is None, reason="Chromium is not installed"
)


@pytest.fixture
def run(lake: Path) -> JobRun:
    two_epochs()
    return finished_run(lake)


def test_it_names_no_other_place(run: JobRun) -> None:
    text = html_text(Report(run, SHANGHAI, "UTC+8"))
    outside = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert not re.findall(r"""(?:src|href)=["'](?!#)[^"']+""", outside)
    assert "connect-src" not in text
    assert "default-src &#x27;none&#x27;" in text or "default-src 'none'" in text


def test_nothing_unknown_is_written_as_a_program_writes_it(lake: Path) -> None:
    run = finished_run(lake, unknown=[(n, q) for n in range(10) for q in range(2)])
    text = html_text(Report(run, SHANGHAI, "UTC+8"))
    shown = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", text, flags=re.S)
    assert not re.findall(r">[^<]*\b(?:None|nan|null)\b[^<]*<", shown)
    assert shown.count('class="stat"') == len(stats_of(Report(run, SHANGHAI)))


def test_what_happened_stands_above_the_figures(run: JobRun) -> None:
    text = html_text(Report(run, SHANGHAI, "UTC+8"))
    lag = "Lag from 101 to 909 (known for 60 % of the time)"
    assert f'<p class="headline">{lag}: 20/s in, 10/s out</p>' in text


def test_all_figures_over_time_share_one_axis(run: JobRun) -> None:
    report = Report(run, SHANGHAI)
    drawn = [figure_of(report, name)["layout"] for name in FIGURES]
    times = [each for each in drawn if each["xaxis"].get("type") == "date"]
    assert len(times) == 4
    assert len({(e["margin"]["l"], e["margin"]["r"]) for e in times}) == 1
    assert len({str(each["xaxis"]["range"]) for each in times}) == 1


def test_a_name_from_outside_stays_text(run: JobRun) -> None:
    run.group = run.name = "</script><img src=x onerror=alert(1)>"
    run.summary["step_seconds"] = 60
    text = html_text(Report(run, SHANGHAI, "UTC+8"))
    assert "<img" not in text
    assert text.count("</script>") == 3


@pytest.fixture
def opened(run: JobRun, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """A function that opens the file and gives what its page holds."""

    def open_(language: str = "en", **options: Any) -> dict[str, Any]:
        file = tmp_path / "report.html"
        with translation.override(language):
            write_html(Report(run, SHANGHAI, "UTC+8"), file)
        with chromium() as browser:
            context = browser.new_context(offline=True, **options)
            context.set_default_timeout(PATIENCE_MS)
            page = context.new_page()
            problems: list[str] = []
            asked: list[str] = []
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on("console", lambda message: problems.append(message.text))
            page.on("request", lambda request: asked.append(request.url))
            page.goto(file.as_uri())
            page.locator("[data-state=drawn]").nth(len(FIGURES) - 1).wait_for()
            found: dict[str, Any] = page.evaluate(_READ)
            page.get_by_role("button").click()
            found["after"] = page.evaluate("document.documentElement.dataset.theme")
            found["asked"], found["problems"] = asked, problems
        return found

    return open_


_READ = """() => ({
  data: Object.fromEntries([...document.querySelectorAll("[data-figure]")].map(
    (place) => [place.dataset.figure, JSON.stringify(place.data, (key, value) =>
      ArrayBuffer.isView(value) ? [...value] : value)])),
  twins: Object.fromEntries([...document.querySelectorAll("[data-twin]")].map(
    (table) => [table.dataset.twin, [...table.tBodies[0].rows].map(
      (row) => [...row.cells].map((cell) => cell.textContent))])),
  stats: [...document.querySelectorAll(".stat dd:not(.sub)")].map(
    (each) => each.textContent),
  ground: getComputedStyle(document.body).backgroundColor,
  ink: document.querySelector("[data-figure]").layout.font.color,
  lang: document.documentElement.lang,
  title: document.title,
})"""


@pytest.mark.browser
@needs_chromium
def test_chromium_draws_it_from_disk_with_the_numbers_of_the_page(
    run: JobRun, opened: Any
) -> None:
    found = opened()
    assert found["problems"] == []
    assert [url for url in found["asked"] if not url.startswith("file:")] == []
    for name in FIGURES:
        drawn = json.loads(found["data"][name])
        served = figure_of(Report(run, SHANGHAI), name)["data"]
        for mine, theirs in zip(served, drawn, strict=True):
            for axis in ("x", "y", "z"):
                assert mine.get(axis) == theirs.get(axis), (name, axis)
        twin = [
            [cell if cell is not None else "— Not known" for cell in row]
            for row in twin_of(Report(run, SHANGHAI), name).rows
        ]
        assert found["twins"][name] == twin
    stats = stats_of(Report(run, SHANGHAI))
    assert found["stats"] == [stat.value for stat in stats]


@pytest.mark.browser
@needs_chromium
def test_it_follows_the_system_into_the_dark_and_speaks_chinese(opened: Any) -> None:
    found = opened("zh-hans", color_scheme="dark")
    assert found["problems"] == []
    assert found["ground"] == "rgb(14, 18, 21)"
    assert found["ink"] == "rgb(185, 194, 203)"
    assert found["after"] == "light"
    assert found["lang"] == "zh-hans"
    assert "堆积" in found["title"]
