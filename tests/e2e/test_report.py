"""A newcomer asks for a report: from the collector's samples to charts and files."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest
from playwright.sync_api import Page

from tests.support.launched import LaunchedStack

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.browser,
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.timeout(420),
]

GROUP = "demo-consumers"
FIGURES = 4


def samples_landed(page: Page, stack: LaunchedStack) -> None:
    """Wait for the first whole minute of samples."""
    landing = stack.var_dir / "lake" / "landing" / "samples"
    for _second in range(150):
        if any(landing.rglob("*.parquet")):
            return
        page.wait_for_timeout(1000)
    raise AssertionError(f"no samples in {landing}{stack.logs()}")


def test_a_report_is_made_drawn_and_downloaded(
    page: Page, stack: LaunchedStack, tmp_path: Path
) -> None:
    page.goto(f"{stack.address}/reports/")
    samples_landed(page, stack)
    page.locator("input[name=group]").fill(GROUP)
    page.locator("select[name=period]").select_option("15m")
    page.get_by_role("button", name="Make report").click()
    page.locator("[data-figure][data-state=drawn]").nth(FIGURES - 1).wait_for(
        timeout=240_000
    )
    for number in range(FIGURES):
        page.locator("[data-figure]").nth(number).hover()
    text = page.locator("main").inner_text()
    assert "CONSISTENT_HASH" in text
    assert "Peak lag" in text

    with page.expect_download() as download:
        page.get_by_role("link", name="XLSX").click()
    file = tmp_path / "report.xlsx"
    download.value.save_as(file)
    rows = openpyxl.load_workbook(file)["Queues"].iter_rows(min_row=2, values_only=True)
    assert {row[4] for row in rows} == set(range(16))
