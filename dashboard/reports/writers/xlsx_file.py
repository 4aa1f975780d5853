"""A whole run as a workbook: a sheet per table, typed cells, frozen headers, charts.

Rows are written as they come (constant memory) and go to a temporary file. A sheet
holds at most 1,048,576 rows; a longer table continues on another sheet. Excel has no
time zones, so times are written in the reader's zone, which the header names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Final

import xlsxwriter
from django.utils.translation import gettext as _

from analytics import contracts as c
from dashboard.reports.data.alerts import alerts_of
from dashboard.reports.data.facts import facts_of
from dashboard.reports.data.results import column_of, has_table, iterate_batches
from dashboard.reports.data.stats import holes_text
from dashboard.reports.data.tables import (
    STRATEGIES,
    TABLES,
    Column,
    Kind,
    Table,
)
from dashboard.reports.data.verdict import verdict_of
from dashboard.reports.report import Report
from dashboard.reports.words import owner_facts, title_of
from dashboard.wording.cells import in_zone

from .palette import palette
from .xlsx_charts import TIME_FORMAT, write_map, write_over_time

SHEET_ROWS: Final = 1_048_575
"""Rows below the header."""

_FORMATS: Final[Mapping[Kind, str]] = {
    Kind.COUNT: "#,##0",
    Kind.NUMBER: "#,##0.00",
    Kind.TIME: TIME_FORMAT,
}
_WIDTHS: Final[Mapping[Kind, int]] = {Kind.TEXT: 28, Kind.TIME: 20}


def write_xlsx(report: Report, path: Path) -> None:
    """Write every table that the run has to a workbook at `path`."""
    options = {
        "constant_memory": True,
        # Text from outside never becomes a formula or a link.
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    with xlsxwriter.Workbook(str(path), options) as book:
        _about(book, report)
        write_over_time(book, report)
        write_map(book, report)
        for table in TABLES.values():
            if has_table(report, table.key):
                _Sheets(book, table, report.zone, report.zone_name).write(report)


class _Sheets:
    """The sheet of one table, and those on which it continues."""

    def __init__(self, book: Any, table: Table, zone: tzinfo, zone_name: str) -> None:
        self._book = book
        self._table = table
        self._zone = zone
        self._zone_name = zone_name
        self._header = book.add_format({"bold": True, "bottom": 1, "text_wrap": True})
        self._formats = {
            kind: book.add_format({"num_format": text})
            for kind, text in _FORMATS.items()
        }

    def write(self, report: Report) -> None:
        sheet, line, number = None, 0, 0
        for row in self._rows(report):
            if sheet is None or line > SHEET_ROWS:
                number += 1
                sheet, line = self._sheet(number), 1
            for place, (column, value) in enumerate(
                zip(self._table.columns, row, strict=True)
            ):
                self._cell(sheet, line, place, column, value)
            line += 1
        if sheet is None:
            self._sheet(1)
        elif self._table is STRATEGIES and number == 1:
            self._compare(sheet, line - 1)

    def _compare(self, sheet: Any, rows: int) -> None:
        """Draw one bar for each strategy below the table: its max / mean load."""
        keys = [column.key for column in self._table.columns]
        names, values = keys.index(c.STRATEGY), keys.index("load_max_to_mean")
        title = sheet.get_name()
        chart = self._book.add_chart({"type": "bar"})
        chart.add_series(
            {
                "name": str(self._table.columns[values].label),
                "categories": [title, 1, names, rows, names],
                "values": [title, 1, values, rows, values],
                "fill": {"color": palette()["accent"]},
            }
        )
        chart.set_legend({"none": True})
        chart.set_y_axis({"reverse": True})
        chart.set_x_axis({"num_format": "0.00", "min": 1, "crossing": 1})
        sheet.insert_chart(rows + 3, 1, chart)

    def _rows(self, report: Report) -> Iterator[Sequence[Any]]:
        keys = [column.key for column in self._table.columns]
        for batch in iterate_batches(report, self._table.key, self._table.order):
            columns = [column_of(batch, key) for key in keys]
            yield from zip(*columns, strict=True)

    def _sheet(self, number: int) -> Any:
        title = str(self._table.title)
        name = title if number == 1 else f"{title} {number}"
        sheet = self._book.add_worksheet(name[:31])
        sheet.freeze_panes(1, 0)
        for place, column in enumerate(self._table.columns):
            sheet.set_column(place, place, _WIDTHS.get(column.kind, 12))
            sheet.write_string(0, place, self._label(column), self._header)
        return sheet

    def _label(self, column: Column) -> str:
        if column.kind is Kind.TIME:
            return f"{column.label} ({self._zone_name})"
        return str(column.label)

    def _cell(
        self, sheet: Any, line: int, place: int, column: Column, value: Any
    ) -> None:
        """Write one typed cell; unknown stays empty."""
        if value is None:
            return
        if isinstance(value, bool):
            sheet.write_boolean(line, place, value)
        elif isinstance(value, datetime):
            local = in_zone(value, self._zone).replace(tzinfo=None)
            sheet.write_datetime(line, place, local, self._formats[Kind.TIME])
        elif isinstance(value, int | float):
            sheet.write_number(line, place, value, self._formats.get(column.kind))
        else:
            sheet.write_string(line, place, column.say(str(value)))


def _about(book: Any, report: Report) -> None:
    sheet = book.add_worksheet(_("About"))
    sheet.set_column(0, 0, 22)
    sheet.set_column(1, 1, 80)
    top = book.add_format({"bold": True, "valign": "top"})
    wrapped = book.add_format({"text_wrap": True, "valign": "top"})

    def local(moment: datetime | None) -> str:
        return "" if moment is None else in_zone(moment, report.zone).isoformat(sep=" ")

    verdict = verdict_of(report)
    holes = holes_text(facts_of(report))
    alerts = " ".join(alerts_of(report).notes)
    facts = [
        (_("Report"), title_of(report)),
        (_("Cluster"), report.cluster),
        (_("Group"), report.group or _("all groups")),
        *owner_facts(report),
        *([(_("Topic"), report.topic)] if report.topic else []),
        *([(_("Consumer"), report.consumer)] if report.consumer else []),
        (_("From"), local(report.since)),
        (_("Until"), local(report.until)),
        (_("Step, seconds"), str(report.run.summary.get("step_seconds", ""))),
        (_("Time zone"), report.zone_name),
        *([(_("Not known"), holes)] if holes else []),
        (_("Made"), local(report.run.finished_at)),
        (_("Asked by"), report.run.asked_by_name),
        *([(_("Strategies"), verdict.whole)] if verdict else []),
        *([(_("Alerts"), alerts)] if alerts else []),
        (
            _("Notes"),
            _(
                "Empty cells are values that are not known. Where not all queues "
                "are known, a sum covers the known ones only, so the whole is at "
                "least that. Lag includes messages that a tag filter will drop."
            ),
        ),
    ]
    for line, (name, value) in enumerate(facts):
        sheet.write_string(line, 0, name, top)
        sheet.write_string(line, 1, value, wrapped)
