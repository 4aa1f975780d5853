"""Reports in a real browser: charts, their tables, zoom, the form of a definition."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from playwright.async_api import Locator, Page, Route, expect

from dashboard.models import JobRun, ReportDefinition
from dashboard.reports.lost import GONE
from dashboard.reports.report import Report
from dashboard.reports.writers.html_file import html_text
from tests.dashboard.reports.drawn import values
from tests.dashboard.reports.finished import finished_run, two_epochs
from tests.dashboard.reports.test_alerts import opened, with_alerts
from tests.dashboard.reports.zoomable import zoomable_run

from .conftest import Open

FIGURES = ["lag", "queues", "skew", "strategies", "members"]


@pytest.fixture
def lake(settings: Any, tmp_path: Path) -> Path:
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    return tmp_path


@pytest.fixture
def run_pk(cluster: object, lake: Path, settings: Any) -> int:
    # The report's period is long ago, and finer steps need the epochs of that time.
    settings.ROCKETSCOPE_EPOCH_DAYS = 3650
    two_epochs()
    return int(zoomable_run(lake).pk)


def figure(page: Page, name: str) -> Any:
    return page.locator(f"#figure-{name}[data-state=drawn]")


async def drawn(page: Page, name: str) -> dict[str, Any]:
    await figure(page, name).wait_for()
    text = await page.evaluate(
        """(name) => {
          const place = document.getElementById(`figure-${name}`);
          return JSON.stringify({data: place.data, range: place.layout.xaxis.range},
            (key, value) => ArrayBuffer.isView(value) ? [...value] : value);
        }""",
        name,
    )
    found: dict[str, Any] = json.loads(text)
    return found


async def zoom(page: Page) -> None:
    """Draw a span over the second quarter of the first figure."""
    place = page.locator("#figure-lag .nsewdrag").first
    box = await place.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    await page.mouse.move(box["x"] + box["width"] * 0.25, y)
    await page.mouse.down()
    await page.mouse.move(box["x"] + box["width"] * 0.5, y, steps=5)
    await page.mouse.up()


async def test_a_zoom_brings_finer_steps_to_all_charts_and_back(
    open_page: Open, run_pk: int
) -> None:
    page = await open_page(f"/reports/{run_pk}/")
    whole = await drawn(page, "lag")
    for name in FIGURES:
        await figure(page, name).wait_for()
    assert len(whole["data"][0]["x"]) < 20
    await zoom(page)
    await page.locator("#figure-lag[data-step='10']").wait_for()
    await page.locator("#figure-queues[data-step='10']").wait_for()
    zoomed = await drawn(page, "lag")
    assert len(zoomed["data"][0]["x"]) > 60
    note = page.locator("[data-zoom-note]").first
    await expect(note).to_contain_text("steps of 10 s, read from samples")
    links = "#figure-{} ~ .figure-line [data-zoom-report]"
    offer = page.locator(links.format("skew"))
    await expect(page.locator(links.format("lag"))).to_be_hidden()
    await expect(offer).to_be_visible()
    assert zoomed["range"] == (await drawn(page, "skew"))["range"]
    assert "since=2026-03-13T0" in (await offer.get_attribute("href") or "")
    reset = page.get_by_role("button", name="Whole period")
    await reset.first.click()
    await page.locator("#figure-lag[data-step='600']").wait_for()
    assert (await drawn(page, "lag"))["data"] == whole["data"]
    await expect(note).to_contain_text("steps of 10 min, as the report was computed")
    await expect(reset).to_have_count(0)
    await expect(offer).to_be_hidden()


async def test_charts_take_the_colours_of_the_theme_that_holds(
    open_page: Open, run_pk: int
) -> None:
    page = await open_page(f"/reports/{run_pk}/")
    text = page.locator("#figure-lag .xtick text").first
    area = page.locator("#figure-lag .js-fill").first

    async def expect_colors(ink: str, fill: str) -> None:
        await expect(text).to_have_css("fill", ink)
        await expect(area).to_have_css("fill", fill)
        await expect(area).to_have_css("fill-opacity", "0.14")

    await expect_colors("rgb(67, 76, 87)", "rgb(185, 96, 42)")
    await expect(text).to_have_css("font-family", re.compile("^-apple-system, "))
    await page.emulate_media(color_scheme="dark")
    await expect_colors("rgb(185, 194, 203)", "rgb(237, 171, 82)")
    await page.click('summary[title="Theme"]')
    await page.click('button[value="light"]')
    await expect_colors("rgb(67, 76, 87)", "rgb(185, 96, 42)")


async def test_a_chart_that_comes_late_follows_the_zoom(
    open_page: Open, run_pk: int
) -> None:
    page = await open_page("/reports/")
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        asked.set()
        await go_on.wait()
        await route.continue_()

    await page.route(re.compile("figures/queues"), hold)
    await page.goto(urljoin(page.url, f"/reports/{run_pk}/"))
    await asked.wait()
    await drawn(page, "lag")
    await drawn(page, "skew")
    await zoom(page)
    await page.locator("#figure-lag[data-step='10']").wait_for()
    go_on.set()
    await page.locator("#figure-queues[data-step='10']").wait_for()


async def test_members_are_shown_under_another_strategy(
    open_page: Open, run_pk: int
) -> None:
    page = await open_page(f"/reports/{run_pk}/")
    before = (await drawn(page, "members"))["data"][0]["y"]
    await page.locator("select[name=strategy]").select_option("BALANCED")
    await page.wait_for_url("**strategy=BALANCED**")
    after = (await drawn(page, "members"))["data"][0]["y"]
    assert (before[0], after[0]) == (30, 22.5)
    assert page.url.endswith("#members")


async def test_each_chart_has_its_table_with_the_same_numbers(
    open_page: Open, run_pk: int
) -> None:
    page = await open_page(f"/reports/{run_pk}/", width=390)
    for name in ("lag", "queues", "skew", "strategies"):
        await figure(page, name).wait_for()
        await page.locator(f"[data-twin-of={name}]").click()
        await page.locator(f"[data-twin={name}] tbody tr").first.wait_for()
    cells = await page.locator("[data-twin=lag] tbody").inner_text()
    lag = values((await drawn(page, "lag"))["data"][0])
    assert all(f"{value:,.0f}" in cells for value in lag.values())
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390, "nothing makes the phone scroll sideways"


async def point_at(page: Page, name: str, part: float) -> Locator:
    """Move the pointer to a part of a figure's width; return what says what is there.

    The figure follows the pointer after a while: a test has to wait for its words.
    """
    place = page.locator(f"#figure-{name} .nsewdrag").first
    await place.scroll_into_view_if_needed()
    box = await place.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] * part, box["y"] + box["height"] / 3
    await page.mouse.move(x - 3, y)
    await page.mouse.move(x, y, steps=3)
    return page.locator(f"#figure-{name} .hoverlayer")


async def test_a_hole_is_hatched_and_says_what_lacks(
    open_page: Open, cluster: object, lake: Path
) -> None:
    """Of ten steps, 0 and 4 to 6 have nothing, 2 has one of two queues."""
    run = await sync_to_async(finished_run)(lake, unknown={(2, 0)})
    page = await open_page(f"/reports/{run.pk}/")
    for name in FIGURES:
        await figure(page, name).wait_for()
    told = await point_at(page, "lag", 0.25)
    await expect(told).to_contain_text("partly unknown: ≥ 101, from 1 of 2 queues")
    # The steps beside it have no word here.
    await expect(told).not_to_contain_text("mean")
    await expect(await point_at(page, "lag", 0.35)).to_contain_text("303 mean")
    await expect(await point_at(page, "queues", 0.45)).to_have_text("not collected")
    for name in ("lag", "queues", "skew", "members"):
        names = page.locator(f"#figure-{name} .legendtext")
        assert "not collected" in await names.all_text_contents()
        assert await page.locator(f"#figure-{name} .bars .point path").count()
    banner = page.locator(".banner", has_text="Nothing was collected for")
    await expect(banner).to_contain_text("4 m 00 s, in 2 spans")
    await expect(banner).to_contain_text("1 m 00 s, in 1 span")


async def test_a_download_holds_the_numbers_of_the_page(
    open_page: Open, run_pk: int
) -> None:
    page = await open_page(f"/reports/{run_pk}/")
    lag = values((await drawn(page, "lag"))["data"][0])
    await page.get_by_text("CSV", exact=True).first.click()
    async with page.expect_download() as download:
        await page.locator("a[href*='report.csv?table=lag_by_group']").click()
    path = await (await download.value).path()
    text = await sync_to_async(Path(path).read_text)()
    rows = list(csv.DictReader(io.StringIO(text)))
    known = [float(row["lag_mean"]) for row in rows if row["lag_mean"]]
    assert known == list(lag.values())


async def test_the_library_of_charts_is_loaded_on_reports_alone(
    open_page: Open, run_pk: int
) -> None:
    for path, loaded in (
        ("/reports/", False),
        ("/audit/", False),
        (f"/reports/{run_pk}/", True),
    ):
        page = await open_page(path)
        assert await page.evaluate("'Plotly' in globalThis") is loaded, path


async def test_the_form_shows_what_the_schedule_uses(
    open_page: Open, run_pk: int
) -> None:
    page = await open_page(f"/reports/definitions/new/?from={run_pk}")
    await expect(page.locator("input[name=on_day]")).to_be_hidden()
    await page.locator("select[name=every]").select_option("week")
    await expect(page.locator("input[name=on_day]")).to_be_visible()
    await page.locator("input[name=name]").fill("周报")
    await page.locator("input[value=pdf]").check()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("link", name="周报")).to_be_visible()
    made = await ReportDefinition.objects.aget()
    assert (made.name, made.every, made.formats) == ("周报", "week", ["pdf"])


@pytest.fixture
def running(cluster: object) -> JobRun:
    now = timezone.now()
    return JobRun.objects.create(
        job="report",
        cluster="hangzhou",
        group="order-settlement",
        since=now - timedelta(hours=1),
        until=now,
        asked_at=now,
        state=JobRun.State.RUNNING,
        part=0.25,
    )


async def test_the_list_follows_a_run_to_its_end_after_a_refused_form(
    open_page: Open, running: JobRun
) -> None:
    page = await open_page("/reports/", refused=True)
    await page.locator("select[name=period]").select_option("custom")
    await page.locator("input[name=since]").fill("2026-01-02T00:00")
    await page.locator("input[name=until]").fill("2026-01-01T00:00")
    await page.get_by_role("button", name="Make report").click()
    await expect(page.locator("form")).to_contain_text(
        ["The period ends before it begins."]
    )
    row = page.locator(f"#run-{running.pk}")
    await expect(row).to_contain_text("running 25 %")
    rows = JobRun.objects.filter(pk=running.pk)
    await rows.aupdate(part=0.75)
    await expect(row).to_contain_text("running 75 %")
    await page.locator("input[name=since]").fill("2025-12-31T00:00")
    await rows.aupdate(state=JobRun.State.FAILED, error=GONE)
    await expect(row).to_contain_text("the analytics worker that ran this has gone")
    await expect(row.locator(".ask > summary")).to_contain_text("Delete")
    # What was typed meanwhile is still there, and the period says what is wrong.
    since = page.locator("input[name=since]")
    await expect(since).to_have_value("2025-12-31T00:00")


async def test_alerts_with_long_names_have_room_in_the_file(
    open_page: Open, cluster: object, lake: Path, tmp_path: Path
) -> None:
    @sync_to_async
    def made() -> JobRun:
        name = "a-group-with-a-name-that-nobody-would-shorten-" * 3
        run = finished_run(lake, group="", groups=("settlement", name))
        opened(name, rule_name="A rule with a name of many words for all groups")
        run = with_alerts(run)
        (tmp_path / "report.html").write_text(html_text(Report(run)))
        return run

    run = await made()
    page = await open_page(f"/reports/{run.pk}/")
    alerts = page.locator('[data-table="alerts"]')
    fits = "table => table.parentElement.scrollWidth <= table.parentElement.clientWidth"
    assert await alerts.evaluate(fits)
    heads = page.locator(".report-columns .panel-head", has=page.locator(".sub"))
    for head in await heads.all():
        top = await head.evaluate(
            "head => head.querySelector('h2').getBoundingClientRect().top"
            " - head.getBoundingClientRect().top"
        )
        assert top >= 8
    await page.goto((tmp_path / "report.html").as_uri())
    assert await alerts.evaluate(fits)
