"""The file formats of a report: one table of them, one way to write them.

CSV and Parquet hold one table, by default that of the report's grouping; the others
hold the whole report. Every writer works from the numbers that the page shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.utils.text import slugify

from dashboard.models import Grouping, Paper
from dashboard.reports.data.tables import LAG_TABLES, TABLES, Table
from dashboard.reports.report import Report

from .csv_file import csv_pieces
from .html_file import write_html
from .parquet_file import write_parquet
from .xlsx_file import write_xlsx


@dataclass(frozen=True, slots=True)
class FileOptions:
    """Options for making a file: the table if it holds only one, and the paper."""

    table: Table
    paper: str = Paper.A4


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file. `per_table`: it holds one table, not the whole report."""

    key: str
    title: str
    content_type: str
    per_table: bool
    write: Callable[[Report, Path, FileOptions], None]


def _csv(report: Report, path: Path, options: FileOptions) -> None:
    with path.open("wb") as file:
        file.writelines(csv_pieces(report, options.table))


def _pdf(report: Report, path: Path, options: FileOptions) -> None:
    # Imported late: the font library takes a second to load, and few processes need it.
    from dashboard.reports.writers.pdf.document import write_pdf

    write_pdf(report, path, options.paper)


FORMATS: Final[Mapping[str, Format]] = {
    form.key: form
    for form in (
        Format("csv", "CSV", "text/csv; charset=utf-8", True, _csv),
        Format(
            "xlsx",
            "XLSX",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            False,
            lambda report, path, _wish: write_xlsx(report, path),
        ),
        Format(
            "parquet",
            "Parquet",
            "application/vnd.apache.parquet",
            True,
            lambda report, path, options: write_parquet(report, options.table, path),
        ),
        Format(
            "html",
            "HTML",
            "text/html; charset=utf-8",
            False,
            lambda report, path, _wish: write_html(report, path),
        ),
        Format("pdf", "PDF", "application/pdf", False, _pdf),
    )
}


def table_named(report: Report, name: str) -> Table:
    """Return a table by its key; empty means that of the report's grouping.

    Raises KeyError for an unknown name.
    """
    if name:
        return TABLES[name]
    return LAG_TABLES[Grouping.CONSUMER if report.consumer else report.grouping]


def file_name(report: Report, form: Format, table: Table) -> str:
    """Return a name for the file that any file system accepts."""
    name = slugify(report.name) or slugify(report.group or report.cluster) or "report"
    part = f"-{table.key}" if form.per_table else ""
    return f"lag-{name}-{report.run.pk}{part}.{form.key}"
