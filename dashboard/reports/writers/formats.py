"""The files that a report can be had as: one table of them, one way to write them.

CSV and Parquet hold one table, by default that of what the report is grouped by; the
others hold the whole report. Every writer works from the numbers that the page shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Final

from django.utils.text import slugify

from dashboard.models import Grouping, JobRun, Paper
from dashboard.reports.data.tables import LAG_TABLES, TABLES, Table

from .csv_file import csv_pieces
from .html_file import write_html
from .parquet_file import write_parquet
from .xlsx_file import write_xlsx


@dataclass(frozen=True, slots=True)
class Wish:
    """How a file is to be made: the reader's zone, the table, the paper."""

    zone: tzinfo
    zone_name: str
    table: Table
    paper: str = Paper.A4


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file. `per_table`: it holds one table, not the whole report."""

    key: str
    title: str
    content_type: str
    per_table: bool
    write: Callable[[JobRun, Path, Wish], None]


def _csv(run: JobRun, path: Path, wish: Wish) -> None:
    with path.open("wb") as file:
        file.writelines(csv_pieces(run, wish.table, wish.zone))


def _pdf(run: JobRun, path: Path, wish: Wish) -> None:
    # Late: the fonts' library takes a second to load, and few processes need it.
    from dashboard.reports.writers.pdf.document import write_pdf

    write_pdf(run, path, wish.zone, wish.zone_name, wish.paper)


FORMATS: Final[Mapping[str, Format]] = {
    form.key: form
    for form in (
        Format("csv", "CSV", "text/csv; charset=utf-8", True, _csv),
        Format(
            "xlsx",
            "XLSX",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            False,
            lambda run, path, wish: write_xlsx(run, path, wish.zone, wish.zone_name),
        ),
        Format(
            "parquet",
            "Parquet",
            "application/vnd.apache.parquet",
            True,
            lambda run, path, wish: write_parquet(run, wish.table, path, wish.zone),
        ),
        Format(
            "html",
            "HTML",
            "text/html; charset=utf-8",
            False,
            lambda run, path, wish: write_html(run, path, wish.zone, wish.zone_name),
        ),
        Format("pdf", "PDF", "application/pdf", False, _pdf),
    )
}


def table_named(run: JobRun, name: str) -> Table:
    """Return a table by its key; empty means that of the report's grouping.

    Raises KeyError for an unknown name.
    """
    if name:
        return TABLES[name]
    return LAG_TABLES[Grouping.CONSUMER if run.consumer else Grouping(run.grouping)]


def file_name(run: JobRun, form: Format, table: Table) -> str:
    """Return a name for the file that any file system takes."""
    name = slugify(run.name) or slugify(run.group or run.cluster) or "report"
    part = f"-{table.key}" if form.per_table else ""
    return f"lag-{name}-{run.pk}{part}.{form.key}"
