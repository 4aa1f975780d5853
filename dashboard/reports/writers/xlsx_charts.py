"""The sheets of a workbook that draw: lag and age over time, a map of the lag.

The charts are the spreadsheet's own, over cells beside them. A step in which not all
queues are known has no lag, so that lines break there, and a mark in the column that
says why; the charts show the marks as hatched columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.reports.data.holes import (
    Lack,
    cell_lack,
    lack_word,
    lag_lack,
)
from dashboard.reports.data.series import heat_lines, shown_grouping
from dashboard.reports.data.steps import lag_steps
from dashboard.reports.data.values import LagStep
from dashboard.reports.figures.captions import heat_part
from dashboard.reports.figures.heatmap import HEATS, LEVELS
from dashboard.reports.report import Report
from dashboard.reports.request.axis import Axis
from dashboard.reports.words import grouping_word
from dashboard.wording.cells import in_zone

from .palette import palette

TIME_FORMAT: Final = "yyyy-mm-dd hh:mm:ss"
_MARKED: Final = (Lack.NOTHING, Lack.PART)
_BAR_PATTERNS: Final[Mapping[Lack, tuple[str, str]]] = {
    Lack.NOTHING: ("wide_upward_diagonal", "line-strong"),
    Lack.PART: ("wide_downward_diagonal", "warn"),
}
_CELL_PATTERNS: Final[Mapping[Lack, int]] = {
    Lack.NOTHING: 14,
    Lack.PART: 13,
    Lack.VALUE: 11,
}
"""Numbers of a workbook's own patterns: thin lines that rise, that fall, that lie."""

_MOST_COLUMNS: Final = 16_000
"""A sheet has 16,384 columns."""


def write_over_time(book: Any, report: Report) -> None:
    """Write the page's lag figure as cells and two charts."""
    axis = report.axis
    steps = {step.since: step for step in lag_steps(report)}
    name = _("Over time")
    sheet = book.add_worksheet(name)
    sheet.freeze_panes(1, 0)
    heads = (
        f"{_('Time')} ({report.zone_name})",
        _("Lag, mean"),
        _("Lag, peak"),
        _("Oldest, peak (s)"),
        _("Queues known"),
        _("Queues"),
        _("Lag of the known part, mean"),
        *(lack_word(lack) for lack in _MARKED),
    )
    header = book.add_format({"bold": True, "bottom": 1, "text_wrap": True})
    time_format = book.add_format({"num_format": TIME_FORMAT})
    whole = book.add_format({"num_format": "#,##0"})
    sheet.set_column(0, 0, 20)
    sheet.set_column(1, len(heads) - 1, 12)
    for place, head in enumerate(heads):
        sheet.write_string(0, place, head, header)
    moments = axis.steps()
    marked = set()
    for line, moment in enumerate(moments, start=1):
        sheet.write_datetime(line, 0, _local(moment, report.zone), time_format)
        for place, value in enumerate(_values(steps.get(moment)), start=1):
            if value is not None:
                sheet.write_number(line, place, value, whole)
                marked.add(place)
    marks = {
        lack: place
        for place, lack in enumerate(_MARKED, start=len(heads) - len(_MARKED))
        if place in marked
    }
    for number, chart in enumerate(_charts(book, name, axis, marks)):
        sheet.insert_chart(1 + 16 * number, len(heads) + 1, chart)


def write_map(book: Any, report: Report) -> None:
    """Write the heatmap: a row per queue, a column per step, coloured by level."""
    lines = heat_lines(report)
    moments = report.axis.steps()[:_MOST_COLUMNS]
    sheet = book.add_worksheet(_("Lag map"))
    sheet.freeze_panes(1, 1)
    header = book.add_format(
        {"bold": True, "bottom": 1, "num_format": "mm-dd hh:mm", "rotation": 90}
    )
    whole = book.add_format({"num_format": "#,##0"})
    sheet.set_column(0, 0, 28)
    sheet.set_column(1, max(1, len(moments)), 6)
    bold = book.add_format({"bold": True, "bottom": 1})
    color = palette()["line-strong"]
    hatched = {
        lack: book.add_format({"pattern": pattern, "fg_color": color})
        for lack, pattern in _CELL_PATTERNS.items()
    }
    head = f"{grouping_word(shown_grouping(report))} ({report.zone_name})"
    part = heat_part(report, None)
    sheet.write_string(0, 0, f"{head} · {part}" if part else head, bold)
    for place, moment in enumerate(moments, start=1):
        sheet.write_datetime(0, place, _local(moment, report.zone), header)
    for row, line in enumerate(lines, start=1):
        sheet.write_string(row, 0, line.label)
        for place, moment in enumerate(moments, start=1):
            lack = cell_lack(line, moment)
            if lack is not None:
                sheet.write_blank(row, place, None, hatched[lack[0]])
            else:
                sheet.write_number(row, place, line.values[moment], whole)
    _legend(sheet, len(lines) + 2, hatched)
    if lines and moments:
        _levels(book, sheet, (1, 1, len(lines), len(moments)))


def _values(step: LagStep | None) -> Sequence[float | None]:
    lack = lag_lack(step)
    marks = [1 if lack and lack[0] is each else None for each in _MARKED]
    if step is None:
        return (None,) * 6 + tuple(marks)
    age = None if step.age_ms is None else step.age_ms / 1000
    part = step.seen.mean if step.is_part else None
    return (step.lag, step.peak, age, step.known, step.queues, part, *marks)


def _charts(
    book: Any, sheet: str, axis: Axis, marks: Mapping[Lack, int]
) -> Iterator[Any]:
    """Yield a chart of the lag and one of the age; `marks` are columns of holes."""
    rows = len(axis.steps())
    clock = "mm-dd" if (axis.until - axis.since).days > 1 else "hh:mm"
    for column, title, color in (
        (1, _("Lag, mean"), "line-lag"),
        (3, _("Oldest, peak (s)"), "line-age"),
    ):
        chart = book.add_chart({"type": "line"})
        line = {"color": palette()[color], "width": 1.5}
        chart.add_series(_series(sheet, column, rows) | {"line": line})
        if marks:
            chart.combine(_hatches(book, sheet, rows, marks))
        chart.set_title({"name": title, "name_font": {"size": 11}})
        named: dict[str, Any] = {"position": "bottom", "delete_series": [0]}
        chart.set_legend(named if marks else {"none": True})
        chart.show_blanks_as("gap")
        chart.set_x_axis({"num_format": clock, "label_position": "low"})
        chart.set_y_axis({"num_format": "#,##0", "min": 0})
        chart.set_size({"width": 860, "height": 300})
        yield chart


def _hatches(book: Any, sheet: str, rows: int, marks: Mapping[Lack, int]) -> Any:
    """Return the marks of holes as hatched columns from bottom to top."""
    chart = book.add_chart({"type": "column", "subtype": "stacked"})
    for lack, column in marks.items():
        pattern, color = _BAR_PATTERNS[lack]
        look = {
            "pattern": pattern,
            "fg_color": palette()[color],
            "bg_color": "#ffffff",
        }
        series = _series(sheet, column, rows)
        chart.add_series(series | {"pattern": look, "gap": 0, "y2_axis": True})
    chart.set_y2_axis({"min": 0, "max": 1, "visible": False})
    return chart


def _series(sheet: str, column: int, rows: int) -> dict[str, Any]:
    return {
        "name": [sheet, 0, column],
        "categories": [sheet, 1, 0, rows, 0],
        "values": [sheet, 1, column, rows, column],
    }


def _legend(sheet: Any, line: int, hatched: Mapping[Lack, Any]) -> None:
    """Write below the map what each hatch of a cell stands for."""
    for number, (lack, look) in enumerate(hatched.items()):
        sheet.write_string(line + number, 0, lack_word(lack))
        sheet.write_blank(line + number, 1, None, look)


def _levels(book: Any, sheet: Any, area: tuple[int, int, int, int]) -> None:
    """Colour cells by the levels of the page's map; an empty cell stays as it is."""
    colors = palette()
    sheet.conditional_format(*area, {"type": "blanks", "stop_if_true": True})
    for bound, heat in zip(reversed(LEVELS), reversed(HEATS), strict=False):
        ink = "#ffffff" if heat >= 4 else "#000000"
        look = book.add_format({"bg_color": colors[f"heat-{heat}"], "font_color": ink})
        rule = {"type": "cell", "criteria": ">", "value": bound, "format": look}
        sheet.conditional_format(*area, rule | {"stop_if_true": True})


def _local(moment: datetime, zone: tzinfo) -> datetime:
    return in_zone(moment, zone).replace(tzinfo=None)
