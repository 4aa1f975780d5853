"""CSV and XLSX are read by programs that did not write them."""

from __future__ import annotations

import csv as csv_module
import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import openpyxl
import pytest

from analytics import contracts as c
from dashboard.models import JobRun
from dashboard.reports.data import results
from dashboard.reports.data.results import NoResultError, iterate_batches
from dashboard.reports.data.series import heat_lines
from dashboard.reports.data.steps import lag_steps
from dashboard.reports.data.tables import (
    BY_CONSUMER,
    BY_QUEUE,
    MEMBERS,
    TABLES,
)
from dashboard.reports.report import Report
from dashboard.reports.request.periods import axis_of
from dashboard.reports.writers import xlsx_file
from dashboard.reports.writers.csv_file import csv_pieces
from dashboard.reports.writers.xlsx_file import write_xlsx
from tests.dashboard.reports.finished import MISSING, STEPS, finished_run

pytestmark = pytest.mark.django_db

SHANGHAI = ZoneInfo("Asia/Shanghai")
QUEUE_ROWS = 2 * (STEPS - len(MISSING))


@pytest.fixture
def run(lake: Path) -> JobRun:
    return finished_run(lake)


@pytest.fixture
def csv(run: JobRun, tmp_path: Path) -> Path:
    file = tmp_path / "queues.csv"
    file.write_bytes(b"".join(csv_pieces(Report(run, SHANGHAI), BY_QUEUE)))
    return file


def workbook(run: JobRun, folder: Path) -> openpyxl.Workbook:
    file = folder / "report.xlsx"
    write_xlsx(Report(run, SHANGHAI, "UTC+8"), file)
    return openpyxl.load_workbook(file)


def test_duckdb_reads_the_csv_with_types(csv: Path) -> None:
    table = duckdb.read_csv(str(csv))
    kinds = dict(zip(table.columns, map(str, table.types), strict=True))
    assert kinds[c.QUEUE_ID] == "BIGINT"
    assert kinds[c.LAG_MEAN] == "DOUBLE"
    assert kinds[c.SINCE] == "TIMESTAMP WITH TIME ZONE"
    rows = table.order("since, queue_id").fetchall()
    assert len(rows) == QUEUE_ROWS
    first = dict(zip(table.columns, rows[0], strict=True))
    assert first[c.SINCE].astimezone(UTC) == datetime(2026, 3, 13, tzinfo=UTC)
    assert first[c.LAG_MEAN] is None
    assert first[c.UNKNOWN_SECONDS] == 60


def test_rows_come_in_the_order_of_the_table(csv: Path) -> None:
    lines = csv.read_text().splitlines()
    assert lines[0].startswith("cluster,group,topic,broker,queue_id,since,lag_mean")
    assert "2026-03-13T08:00:00+08:00" in lines[1]
    queues = [int(line.split(",")[4]) for line in lines[1:]]
    assert queues == sorted(queues)


def test_names_from_outside_cannot_be_formulas(run: JobRun, tmp_path: Path) -> None:
    text = b"".join(csv_pieces(Report(run, SHANGHAI), BY_CONSUMER)).decode()
    assert ",'=1+1," in text
    sheet = workbook(run, tmp_path)["Consumers"]
    cell = sheet["C2"]
    assert (cell.value, cell.data_type) == ("=1+1", "s")


def test_a_workbook_has_typed_cells_and_a_frozen_header(
    run: JobRun, tmp_path: Path
) -> None:
    book = workbook(run, tmp_path)
    assert book.sheetnames == [
        "About",
        "Over time",
        "Lag map",
        "Groups",
        "Topics",
        "Queues",
        "Consumers",
        "Strategies",
        "Members over time",
        "Skew",
    ]
    sheet = book["Queues"]
    assert sheet.freeze_panes == "A2"
    assert sheet.max_row == QUEUE_ROWS + 1
    heads = [cell.value for cell in sheet[1]]
    assert heads[:7] == [
        "Cluster",
        "Group",
        "Topic",
        "Broker",
        "Queue",
        "Time (UTC+8)",
        "Lag, mean",
    ]
    first, second = sheet[2], sheet[3]
    assert first[5].value == datetime(2026, 3, 13, 8)  # noqa: DTZ001  Excel has no zones
    assert first[5].is_date
    assert first[6].value is None, "unknown is empty, never 0"
    assert second[6].value == 50.5
    assert second[4].data_type == "n"
    assert book["Strategies"]["E2"].data_type == "b"


def test_the_first_sheet_says_what_the_numbers_are(run: JobRun, tmp_path: Path) -> None:
    facts = dict(workbook(run, tmp_path)["About"].iter_rows(values_only=True))
    assert facts["Group"] == "settlement"
    assert facts["From"] == "2026-03-13 08:00:00+08:00"
    assert facts["Time zone"] == "UTC+8"
    assert "not known" in facts["Notes"]


def test_a_table_too_long_for_a_sheet_goes_on_in_the_next(
    run: JobRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xlsx_file, "SHEET_ROWS", 5)
    book = workbook(run, tmp_path)
    assert [name for name in book.sheetnames if name.startswith("Queues")] == [
        "Queues",
        "Queues 2",
        "Queues 3",
    ]
    assert [book[name].max_row for name in ("Queues", "Queues 3")] == [6, 5]


def test_large_tables_come_in_small_pieces(
    run: JobRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "BATCH_ROWS", 3)
    monkeypatch.setattr(results, "SORTED_ROWS", 1)
    batches = list(iterate_batches(Report(run), c.LAG_BY_QUEUE, BY_QUEUE.order))
    assert max(batch.num_rows for batch in batches) <= 3
    assert sum(batch.num_rows for batch in batches) == QUEUE_ROWS
    pieces = list(csv_pieces(Report(run, SHANGHAI), BY_QUEUE))
    assert len(pieces) > 4
    assert len(io.BytesIO(b"".join(pieces)).readlines()) == QUEUE_ROWS + 1


def test_a_run_without_the_table_says_so(run: JobRun) -> None:
    with pytest.raises(NoResultError, match="has no load_by_member"):
        csv_pieces(Report(run, SHANGHAI), MEMBERS)
    run.state = JobRun.State.FAILED
    with pytest.raises(NoResultError, match="is failed"):
        csv_pieces(Report(run, SHANGHAI), BY_QUEUE)


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.key)
def test_tables_are_sorted_by_columns_that_they_have(table: object) -> None:
    keys = {column.key for column in table.columns}  # type: ignore[attr-defined]
    assert set(table.order) <= keys  # type: ignore[attr-defined]


DANGEROUS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", " =1"]


@pytest.mark.parametrize("name", DANGEROUS)
def test_no_name_is_a_formula_in_any_file(
    lake: Path, tmp_path: Path, name: str
) -> None:
    run = finished_run(lake, group=name, groups=(name,), consumers=(name,))
    run.name = name
    text = b"".join(csv_pieces(Report(run, SHANGHAI), BY_CONSUMER)).decode()
    rows = list(csv_module.reader(io.StringIO(text, newline="")))
    assert {row[2] for row in rows[1:]} == {"'" + name}
    book = workbook(run, tmp_path)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f"]
    assert book["Consumers"]["C2"].data_type == "s"
    assert not [cell for cell in cells if cell.hyperlink]


def test_the_workbook_draws_what_the_page_draws(run: JobRun, tmp_path: Path) -> None:
    book = workbook(run, tmp_path)
    sheet = book["Over time"]
    rows = list(sheet.iter_rows(min_row=2, values_only=True))
    steps = {step.since: step for step in lag_steps(Report(run))}
    axis = axis_of(run, SHANGHAI)
    for row, since in zip(rows, axis.steps(), strict=True):
        local = since.astimezone(SHANGHAI).replace(tzinfo=None)
        step = steps.get(since)
        if step is None:
            assert row == (local, *[None] * 6, 1, None), "not collected, not 0"
            continue
        age = None if step.age_ms is None else step.age_ms / 1000
        counts = (step.known, step.queues)
        mark = None if step.known else 1
        assert row == (local, step.lag, step.peak, age, *counts, None, mark, None)
    assert len(charts_in(sheet)) == 2
    assert len(charts_in(book["Strategies"])) == 1
    titles = [cell.value for cell in book["Lag map"]["A"][1:]]
    lines = [line.label for line in heat_lines(Report(run))]
    assert titles == [*lines, None, "not collected", "partly unknown", "not known"]


def charts_in(sheet: Any) -> list[Any]:
    """Return the charts that openpyxl found in the file."""
    return list(sheet._charts)
