"""The ranking of strategies is the same on the page and in every file."""

from __future__ import annotations

from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import openpyxl
import pypdf
import pytest
from django.utils import translation

from analytics import contracts as c
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import JobRun, Role
from dashboard.reports.data.strategies import strategy_rows
from dashboard.reports.data.tables import MEMBERS_OVER_TIME, STRATEGIES
from dashboard.reports.data.twins import twin_of
from dashboard.reports.data.verdict import verdict_of
from dashboard.reports.report import Report
from dashboard.reports.writers.csv_file import csv_pieces
from dashboard.reports.writers.html_file import html_text
from dashboard.reports.writers.parquet_file import write_parquet
from dashboard.reports.writers.pdf.document import write_pdf
from dashboard.reports.writers.xlsx_file import write_xlsx
from tests.dashboard.conftest import SignIn

from .finished import MISSING, STEPS, STRATEGY_ROWS, finished_run

pytestmark = pytest.mark.django_db

SHANGHAI = ZoneInfo("Asia/Shanghai")
BY_RANK = ["AVG_BY_CIRCLE", "AVG", "CONSISTENT_HASH", "BALANCED", "in_use+1"]
BY_RANK_IN_FILES = ["AVG_BY_CIRCLE", "AVG", "BALANCED", "CONSISTENT_HASH", "in_use+1"]
UNKNOWN = "— Not known"


class Tables(HTMLParser):
    """The cells of a page's tables, by their `data-table` or `data-twin`."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, list[list[str]]] = {}
        self._table: list[list[str]] | None = None
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        if tag == "table":
            name = names.get("data-table") or names.get("data-twin") or ""
            self._table = self.rows.setdefault(name, [])
        elif tag == "tr" and self._table is not None:
            self._table.append([])
        elif tag in {"th", "td"} and self._table:
            self._table[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in {"th", "td"}:
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell and self._table:
            self._table[-1][-1] += data

    def body(self, name: str) -> list[list[str]]:
        """Return the rows of a table below its heads."""
        rows = [[" ".join(cell.split()) for cell in row] for row in self.rows[name]]
        return rows[-len(STRATEGY_ROWS) :]


@pytest.fixture
def run(lake: Path, hangzhou: ClusterSettings) -> JobRun:
    return finished_run(lake)


@pytest.fixture
def page(run: JobRun, sign_in: SignIn) -> list[list[str]]:
    """The rows of the page's table of strategies."""
    tables = Tables()
    client = sign_in(Role.VIEWER)
    tables.feed(client.get(f"/reports/{run.pk}/").content.decode())
    return tables.body("strategies")


def test_the_page_shows_them_by_rank(page: list[list[str]]) -> None:
    assert page[0][:3] == ["AVG_BY_CIRCLE", "1 best", "1.25"]
    assert page[1] == [
        *("AVG assumed", "2", "1.50", "0.15", "0.01", "2.50", UNKNOWN, "0.00"),
        *("25 %", "4", "4.0", "never", "1 m 00 s", "2 m 00 s", "0"),
    ]
    assert page[0][11:] == ["1 m 30 s", "0 s", "0 s", "0"]
    assert page[2][1:8] == [UNKNOWN] * 7
    assert page[3][:3] == ["Balanced plan CONFIG", "", "1.12"], "beside the ranking"
    assert page[4][0] == "1 member more"
    assert page[4][11] == UNKNOWN, "unknown is neither never nor 0"


def test_the_twin_has_the_numbers_of_the_page(
    run: JobRun, page: list[list[str]]
) -> None:
    for row, shown in zip(
        twin_of(Report(run, SHANGHAI), "strategies").rows, page, strict=True
    ):
        title, use, rank, *cells = [UNKNOWN if cell is None else cell for cell in row]
        assert shown[0].removesuffix(" CONFIG") == f"{title} {use}".strip()
        assert shown[1].removesuffix(" best") == rank
        # The page puts overload before never; both have the same columns.
        assert sorted(shown[2:]) == sorted(cells)


def as_dicts(table: Any) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.fetchall()]


def expected() -> list[dict[str, Any]]:
    by_name = {row[c.STRATEGY]: row for row in STRATEGY_ROWS}
    return [by_name[name] for name in BY_RANK_IN_FILES]


def same(found: dict[str, Any], wanted: dict[str, Any], places: float = 1e-9) -> None:
    for key, value in wanted.items():
        near = value if value is None else pytest.approx(value, abs=places)
        assert found[key] == near, key


def test_duckdb_reads_the_ranking_from_csv_and_parquet(
    run: JobRun, tmp_path: Path
) -> None:
    csv, parquet = tmp_path / "s.csv", tmp_path / "s.parquet"
    csv.write_bytes(b"".join(csv_pieces(Report(run, SHANGHAI), STRATEGIES)))
    write_parquet(Report(run, SHANGHAI), STRATEGIES, parquet)
    for found, wanted in zip(
        as_dicts(duckdb.read_csv(str(csv))), expected(), strict=True
    ):
        same(found, wanted, places=1e-4)
    for found, wanted in zip(
        as_dicts(duckdb.read_parquet(str(parquet))), expected(), strict=True
    ):
        same(found, wanted)


def test_a_workbook_has_the_ranking_with_empty_cells(
    run: JobRun, tmp_path: Path
) -> None:
    file = tmp_path / "report.xlsx"
    write_xlsx(Report(run, SHANGHAI, "UTC+8"), file)
    book = openpyxl.load_workbook(file)
    _head, *rows = book["Strategies"].iter_rows(values_only=True)
    keys = [column.key for column in STRATEGIES.columns]
    titles = {row.name: row.title for row in strategy_rows(Report(run))}
    for cells, wanted in zip(rows, expected(), strict=True):
        found = dict(zip(keys, cells, strict=True))
        assert found.pop(c.STRATEGY) == titles[wanted[c.STRATEGY]]
        same(found, {k: v for k, v in wanted.items() if k != c.STRATEGY})
    about = dict(book["About"].iter_rows(values_only=True))
    verdict = verdict_of(Report(run))
    assert verdict is not None
    assert about["Strategies"] == verdict.whole


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_html_and_pdf_say_what_the_page_says(
    run: JobRun, tmp_path: Path, language: str
) -> None:
    with translation.override(language):
        verdict = verdict_of(Report(run))
        twin = twin_of(Report(run, SHANGHAI), "strategies")
        text = html_text(Report(run, SHANGHAI, "UTC+8"))
        write_pdf(Report(run, SHANGHAI, "UTC+8"), tmp_path / "report.pdf", "a4")
        dash = "— " + translation.gettext("Not known")
    tables = Tables()
    tables.feed(text)
    assert tables.body("strategies") == [
        [dash if cell is None else cell for cell in row] for row in twin.rows
    ]
    assert verdict is not None
    assert all(sentence in text for sentence in (verdict.text, *verdict.further))
    pages = pypdf.PdfReader(tmp_path / "report.pdf").pages
    paper = "".join("".join(page.extract_text().split()) for page in pages)
    assert "".join(verdict.whole.split()) in paper
    cells = (cell for row in twin.rows for cell in row if cell)
    assert all("".join(cell.split()) in paper for cell in cells)


def test_members_over_time_are_those_of_the_strategy_asked_for(
    run: JobRun, sign_in: SignIn, tmp_path: Path
) -> None:
    client = sign_in(Role.VIEWER)
    loads = {
        name: client.get(
            f"/reports/{run.pk}/figures/members/", {"strategy": name}
        ).json()["data"][0]["y"]
        for name in ("AVG", "BALANCED", "")
    }
    assert loads[""] == loads["AVG"], "the strategy in use unless another is asked for"
    assert loads["AVG"][:3] == [30, 30, 30], "from step 1 on to the end of step 3"
    assert loads["BALANCED"][0] == 22.5
    answer = client.get(f"/reports/{run.pk}/figures/members/?strategy=in_use%2B1")
    assert answer.status_code == 404
    file = tmp_path / "members.parquet"
    write_parquet(Report(run, SHANGHAI), MEMBERS_OVER_TIME, file)
    found = duckdb.sql(
        f"select load from '{file}' where strategy = 'BALANCED' order by since"
    ).fetchall()
    assert [load for (load,) in found] == [None] + [22.5] * (STEPS - len(MISSING) - 1)


def test_a_run_of_before_has_ranks_and_no_members(run: JobRun, lake: Path) -> None:
    """Runs made before there were ranks are ordered by the same rule."""
    from pyarrow import parquet

    folder = lake / "results" / run.folder
    for file in (folder / c.STRATEGIES).glob("*.parquet"):
        table = parquet.read_table(file)
        kept = [n for n in table.column_names if n not in (c.RANK, c.NEVER_SECONDS)]
        parquet.write_table(table.select(kept), file)
    del run.summary["rows"][c.MEMBER_BY_TIME]
    rows = strategy_rows(Report(run))
    assert [row.name for row in rows] == BY_RANK
    assert [row.rank for row in rows] == [1, 2, None, None, None]
    assert rows[1].never is None
    assert rows[1].drain == timedelta(minutes=10)
    assert b"in_use+1" in b"".join(csv_pieces(Report(run, SHANGHAI), STRATEGIES))
