"""A newcomer asks for a report: from the collector's samples to charts and files."""

from __future__ import annotations

from pathlib import Path

import duckdb
import openpyxl
import pypdf
import pytest
from playwright.sync_api import Locator, Page

from tests.support.launched import REPORT_TIMEOUT_S, LaunchedStack

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.browser,
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
]

GROUP = "demo-consumers"
FIGURES = 5
MADE_MS = REPORT_TIMEOUT_S * 1000


def report_made(page: Page, stack: LaunchedStack) -> None:
    """Wait for the page of a report that is done; it follows the run until then."""
    page.wait_for_url(lambda url: not url.endswith("/reports/"))
    page.locator("[data-run-reload]").wait_for(state="detached", timeout=MADE_MS)
    if not page.locator("[data-figure]").count():
        words = page.locator("main").inner_text()
        raise AssertionError(f"no report but: {words}{stack.logs()}")


def test_a_report_is_made_drawn_and_downloaded(
    page: Page, stack: LaunchedStack, tmp_path: Path
) -> None:
    page.goto(f"{stack.address}/reports/")
    stack.wait_for_samples()
    page.locator("input[name=group]").fill(GROUP)
    page.locator("select[name=period]").select_option("15m")
    page.get_by_text("More", exact=True).click()
    page.locator("input[name=added_members]").fill("+1")
    page.get_by_role("button", name="Make report").click()
    report_made(page, stack)
    page.locator("[data-figure][data-state=drawn]").nth(FIGURES - 1).wait_for()
    for number in range(FIGURES):
        page.locator("[data-figure]").nth(number).hover()
    text = page.locator("main").inner_text()
    assert "CONSISTENT_HASH" in text
    assert "Peak lag" in text

    assert page.locator("[data-verdict] p").inner_text()

    page_rows = strategies(page)
    assert {"Balanced plan", "1 member more", "AVG_BY_CIRCLE"} <= page_rows.keys()
    xlsx = openpyxl.load_workbook(
        downloaded(page, page.get_by_role("link", name="XLSX"), tmp_path)
    )
    rows = xlsx["Queues"].iter_rows(min_row=2, values_only=True)
    assert {row[4] for row in rows} == set(range(16))
    heads, *found = xlsx["Strategies"].iter_rows(values_only=True)
    for cells in found:
        row = dict(zip(heads, cells, strict=True))
        assert written(row["Load, max / mean"]) == page_rows[row["Strategy"]]

    page.get_by_text("Parquet", exact=True).first.click()
    link = page.locator("a[href*='report.parquet?table=strategies']")
    parquet = downloaded(page, link, tmp_path)
    ranks = duckdb.sql(f"select strategy, rank from '{parquet}'").fetchall()
    assert dict(ranks)["BALANCED"] is None
    assert {rank for _strategy, rank in ranks} - {None} <= {1, 2, 3}

    page.get_by_text("PDF", exact=True).first.click()
    paper = downloaded(page, page.get_by_role("link", name="A4"), tmp_path)
    text = "".join(sheet.extract_text() for sheet in pypdf.PdfReader(paper).pages)
    assert all(name in text for name in page_rows)


def strategies(page: Page) -> dict[str, str]:
    """Return load, max / mean by strategy, as the page's table shows it."""
    found = {}
    for row in page.locator("[data-table=strategies] tbody tr").all():
        name = row.locator("th").evaluate("cell => cell.firstChild.textContent.trim()")
        found[name] = row.locator("td").nth(1).inner_text().split()[0]
    return found


def written(value: float | None) -> str:
    return "—" if value is None else f"{value:.2f}"


def downloaded(page: Page, link: Locator, folder: Path) -> Path:
    with page.expect_download() as download:
        link.click()
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file
