"""The sheets of a workbook that draw: lag and age over time, a map of the lag.

The charts are the spreadsheet's own, over cells beside them. A step in which nothing
was collected has a row with a time and nothing else, so that lines break there.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.charts.heatmap import HEATS, LEVELS
from dashboard.charts.series import Axis, LagStep
from dashboard.models import JobRun

from .cells import in_zone
from .palette import LIGHT, palette
from .series import heat_lines, shown_grouping
from .steps import axis_of, group_rows, lag_steps
from .words import grouping_word

TIME_FORMAT: Final = "yyyy-mm-dd hh:mm:ss"
_MOST_COLUMNS: Final = 16_000
"""A sheet has 16,384 columns."""


def write_over_time(book: Any, run: JobRun, zone: tzinfo, zone_name: str) -> None:
    """Write the page's lag figure as cells and two charts."""
    axis = axis_of(run, zone)
    steps = {step.since: step for step in lag_steps(group_rows(run))}
    name = _("Over time")
    sheet = book.add_worksheet(name)
    sheet.freeze_panes(1, 0)
    heads = (
        f"{_('Time')} ({zone_name})",
        _("Lag, mean"),
        _("Lag, peak"),
        _("Oldest, peak (s)"),
        _("Queues known"),
        _("Queues"),
    )
    header = book.add_format({"bold": True, "bottom": 1, "text_wrap": True})
    time_format = book.add_format({"num_format": TIME_FORMAT})
    whole = book.add_format({"num_format": "#,##0"})
    sheet.set_column(0, 0, 20)
    sheet.set_column(1, len(heads) - 1, 12)
    for place, head in enumerate(heads):
        sheet.write_string(0, place, head, header)
    moments = axis.steps()
    for line, moment in enumerate(moments, start=1):
        sheet.write_datetime(line, 0, _local(moment, zone), time_format)
        for place, value in enumerate(_values(steps.get(moment)), start=1):
            if value is not None:
                sheet.write_number(line, place, value, whole)
    if moments:
        _charts(book, sheet, name, axis, len(moments))


def write_map(book: Any, run: JobRun, zone: tzinfo, zone_name: str) -> None:
    """Write the heatmap: a line per queue, a column per step, coloured by level."""
    lines = heat_lines(run)
    moments = axis_of(run, zone).steps()[:_MOST_COLUMNS]
    sheet = book.add_worksheet(_("Lag map"))
    sheet.freeze_panes(1, 1)
    header = book.add_format(
        {"bold": True, "bottom": 1, "num_format": "mm-dd hh:mm", "rotation": 90}
    )
    whole = book.add_format({"num_format": "#,##0"})
    sheet.set_column(0, 0, 28)
    sheet.set_column(1, max(1, len(moments)), 6)
    bold = book.add_format({"bold": True, "bottom": 1})
    head = f"{grouping_word(shown_grouping(run))} ({zone_name})"
    sheet.write_string(0, 0, head, bold)
    for place, moment in enumerate(moments, start=1):
        sheet.write_datetime(0, place, _local(moment, zone), header)
    for row, line in enumerate(lines, start=1):
        sheet.write_string(row, 0, line.label)
        for place, moment in enumerate(moments, start=1):
            value = line.values.get(moment)
            if value is not None:
                sheet.write_number(row, place, value, whole)
    if lines and moments:
        _levels(book, sheet, (1, 1, len(lines), len(moments)))


def _values(step: LagStep | None) -> Sequence[float | None]:
    if step is None:
        return ()
    age = None if step.age_ms is None else step.age_ms / 1000
    return (step.lag, step.peak, age, step.known, step.queues)


def _charts(book: Any, sheet: Any, name: str, axis: Axis, rows: int) -> None:
    days = axis.until - axis.since
    clock = "mm-dd" if days.days > 1 else "hh:mm"
    for number, (column, title, color) in enumerate(
        ((1, _("Lag, mean"), "line-lag"), (3, _("Oldest, peak (s)"), "line-age"))
    ):
        chart = book.add_chart({"type": "line"})
        chart.add_series(
            {
                "name": [name, 0, column],
                "categories": [name, 1, 0, rows, 0],
                "values": [name, 1, column, rows, column],
                "line": {"color": palette(LIGHT)[color], "width": 1.5},
            }
        )
        chart.set_title({"name": title, "name_font": {"size": 11}})
        chart.set_legend({"none": True})
        chart.show_blanks_as("gap")
        chart.set_x_axis({"num_format": clock, "label_position": "low"})
        chart.set_y_axis({"num_format": "#,##0", "min": 0})
        chart.set_size({"width": 860, "height": 300})
        sheet.insert_chart(1 + 16 * number, 7, chart)


def _levels(book: Any, sheet: Any, area: tuple[int, int, int, int]) -> None:
    """Colour cells by the levels of the page's map; an empty cell stays as it is."""
    colors = palette(LIGHT)
    sheet.conditional_format(*area, {"type": "blanks", "stop_if_true": True})
    for bound, heat in zip(reversed(LEVELS), reversed(HEATS), strict=False):
        ink = "#ffffff" if heat >= 4 else "#000000"
        look = book.add_format({"bg_color": colors[f"heat-{heat}"], "font_color": ink})
        rule = {"type": "cell", "criteria": ">", "value": bound, "format": look}
        sheet.conditional_format(*area, rule | {"stop_if_true": True})


def _local(moment: datetime, zone: tzinfo) -> datetime:
    return in_zone(moment, zone).replace(tzinfo=None)
