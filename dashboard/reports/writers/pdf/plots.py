"""The figures of a report as lines and areas on a sheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.reports.data.holes import (
    Hole,
    age_lack,
    find_holes,
    known_steps,
    lag_lack,
    load_lack,
)
from dashboard.reports.data.steps import highest
from dashboard.reports.data.values import (
    EpochBand,
    LagStep,
    Part,
    QueueRow,
    SkewSeries,
    Strategy,
)
from dashboard.reports.figures.heatmap import HEATS, holes_of_rows, level
from dashboard.reports.figures.members import MOST_LINES, shown_members
from dashboard.reports.figures.skew import COLORS
from dashboard.reports.figures.strategies import EVEN
from dashboard.reports.request.axis import Axis

from .marks import (
    LEFT,
    TICK,
    area,
    epoch_marks,
    hatched,
    heat_legend,
    hole_legend,
    line_legend,
    line_pen,
    places,
    stroke,
    time_axis,
    value_axis,
)
from .scales import (
    Box,
    Tick,
    TimeScale,
    ValueScale,
    count_scale,
    ratio_scale,
    span_scale,
)
from .sheet import MARGIN, SMALL

_ROW: Final = 3.6
_BAR: Final = 5.0
_NAME: Final = 44.0
_ROWS_TOGETHER: Final = 12

LINES_HEIGHT: Final = 52.0
"""What a figure of lines needs of a page, in millimetres."""


def lag_height(*, has_age: bool) -> float:
    """Return what the figure of lag needs of a page, in millimetres."""
    return 84.0 if has_age else 60.0


def heat_height(rows: int) -> float:
    """Return what a map needs of the page on which it begins, in millimetres."""
    return min(rows, _ROWS_TOGETHER) * _ROW + 12


def strategies_height(strategies: int) -> float:
    """Return what the bars of strategies need of a page, in millimetres."""
    return strategies * _BAR + 2


def lag_plot(
    sheet: Any,
    axis: Axis,
    steps: Sequence[LagStep],
    epochs: Sequence[EpochBand],
) -> None:
    """Draw lag over age on one time axis, with the epochs and the holes."""
    has_age = any(step.age_ms is not None for step in steps)
    sheet.room(lag_height(has_age=has_age))
    top = sheet.get_y() + 6
    lag_box = Box(MARGIN + LEFT, top, sheet.epw - LEFT, 40)
    boxes = [lag_box]
    if has_age:
        boxes.append(Box(lag_box.x, lag_box.bottom + 6, lag_box.width, 20))
    whole = Box(lag_box.x, top, lag_box.width, boxes[-1].bottom - top)
    times = TimeScale(axis, whole)
    by_time = {step.since: step for step in steps}
    epoch_marks(sheet, times, whole, epochs)
    peak = max((step.lag or 0 for step in steps), default=0)
    scale, ticks = count_scale(peak, lag_box)
    value_axis(sheet, lag_box, ticks, _("Lag"))
    holes = find_holes(axis, lambda at: lag_lack(by_time.get(at)))
    hatched(sheet, times, lag_box, holes)
    lags = {step.since: step.lag for step in steps}
    area(sheet, places(times, scale, lags), lag_box, "line-lag")
    if has_age:
        oldest = max((step.age_ms or 0 for step in steps), default=0)
        scale, ticks = span_scale(oldest, boxes[1])
        value_axis(sheet, boxes[1], ticks, _("Oldest"))
        of_age = find_holes(axis, lambda at: age_lack(by_time.get(at)))
        hatched(sheet, times, boxes[1], of_age)
        holes += of_age
        ages = {step.since: step.age_ms for step in steps}
        area(sheet, places(times, scale, ages), boxes[1], "line-age")
    time_axis(sheet, times, whole.bottom)
    sheet.set_y(whole.bottom + 7)
    hole_legend(sheet, holes)


def heat_plot(sheet: Any, axis: Axis, lines: Sequence[QueueRow]) -> None:
    """Draw a line of levels per queue (or group, topic, consumer) over time."""
    label_width = 44.0
    box_width = sheet.epw - label_width
    holes = holes_of_rows(axis, lines)
    sheet.room(heat_height(len(lines)))
    shown = list(lines)
    while shown:
        top = sheet.get_y() + 1
        most = max(1, int((sheet.page_break_trigger - top - 8) // _ROW))
        part, shown = shown[:most], shown[most:]
        box = Box(MARGIN + label_width, top, box_width, len(part) * _ROW)
        times = TimeScale(axis, box)
        for number, line in enumerate(part):
            y = top + number * _ROW
            sheet.ink("ink-2", TICK)
            sheet.label(box.x - 2, y + _ROW / 2, line.label, align="R", width=42)
            _cells(sheet, times, y, line)
        for hole, first, count in holes_of_rows(axis, part):
            rows = Box(box.x, top + first * _ROW, box_width, count * _ROW)
            hatched(sheet, times, rows, [hole])
        time_axis(sheet, times, box.bottom)
        sheet.set_y(box.bottom + 6)
        if shown:
            sheet.add_page()
    heat_legend(sheet)
    hole_legend(sheet, [hole for hole, *_rows in holes], MARGIN)


def skew_plot(
    sheet: Any,
    axis: Axis,
    series: Sequence[SkewSeries],
    known: Mapping[datetime, Part],
) -> None:
    """Draw max / mean load by strategy; a line keeps its dash and its hue."""
    values = [v for line in series for v in line.values.values() if v is not None]
    lines = [(line.title, line.values, line.in_use) for line in series]
    drawn = [known_steps(line.values) for line in series]
    holes = find_holes(axis, lambda at: load_lack(at, drawn, known))
    _lines_plot(
        sheet,
        axis,
        lines,
        holes,
        scaled=lambda box: ratio_scale(values, box),
        hues=COLORS,
    )


def members_plot(
    sheet: Any, axis: Axis, lines: Sequence[QueueRow], known: Mapping[datetime, Part]
) -> None:
    """Draw the load of the busiest members over time."""
    shown = shown_members(lines)
    peaks = (highest(line.values.values()) or 0 for _label, line in shown)
    top = max(peaks, default=0)
    drawn = [known_steps(line.values) for line in lines]
    holes = find_holes(axis, lambda at: load_lack(at, drawn, known))
    titled = [(label, line.values, False) for label, line in shown]
    hues = range(1, MOST_LINES + 1)
    _lines_plot(
        sheet,
        axis,
        titled,
        holes,
        scaled=lambda box: count_scale(top, box),
        hues=hues,
    )


Line = tuple[str, Mapping[datetime, float | None], bool]
"""Its title, its values, and whether it is drawn thicker."""


def _lines_plot(
    sheet: Any,
    axis: Axis,
    lines: Sequence[Line],
    holes: Sequence[Hole],
    *,
    scaled: Callable[[Box], tuple[ValueScale, list[Tick]]],
    hues: Sequence[int],
) -> None:
    sheet.room(LINES_HEIGHT)
    box = Box(MARGIN + LEFT, sheet.get_y() + 3, sheet.epw - LEFT, 36)
    times = TimeScale(axis, box)
    scale, ticks = scaled(box)
    value_axis(sheet, box, ticks, "")
    hatched(sheet, times, box, holes)
    for number, (_title, values, is_thick) in enumerate(lines):
        line_pen(sheet, number, hues, in_use=is_thick)
        stroke(sheet, places(times, scale, values))
    sheet.set_dash_pattern()
    time_axis(sheet, times, box.bottom)
    sheet.set_y(box.bottom + 7)
    line_legend(sheet, [title for title, _values, _thick in lines], hues)
    hole_legend(sheet, holes)


def strategies_plot(sheet: Any, strategies: Sequence[Strategy]) -> None:
    """Draw a bar per strategy from 1, which is even, to its max / mean load."""
    known = [skew for _name, skew, _best in strategies if skew is not None]
    if not known:
        return
    sheet.room(strategies_height(len(strategies)))
    top = max([*known, 1.1])
    left = MARGIN + _NAME
    wide = sheet.epw - _NAME - 14
    for name, skew, is_best in strategies:
        y = sheet.get_y() + _BAR / 2
        sheet.ink("ink-2", SMALL, bold=is_best)
        sheet.label(left - 2, y, name, align="R", width=_NAME - 2)
        width = 0.0 if skew is None else (skew - EVEN) / (top - EVEN) * wide
        sheet.ground("accent" if is_best else "line-strong")
        sheet.rect(left, y - 1.4, max(width, 0.3), 2.8, style="F")
        sheet.ink("ink-2", SMALL)
        text = _("unknown") if skew is None else f"{skew:.2f}×"
        sheet.label(left + width + 1.5, y, text, width=14)
        sheet.set_y(y + _BAR / 2)
    sheet.gap(2)


def _cells(sheet: Any, times: TimeScale, y: float, line: QueueRow) -> None:
    """Draw a line's steps; equal neighbours are one area, so that no seam shows."""
    step = times.axis.step
    start: datetime | None = None
    end, heat = None, -1
    for at in sorted(line.values):
        value = line.values[at]
        found = -1 if value is None else HEATS[level(value)]
        if start is not None and (found != heat or at != end):
            _cell(sheet, times, y, (start, end), heat)
            start = None
        if start is None:
            start, heat = at, found
        end = at + step
    if start is not None:
        _cell(sheet, times, y, (start, end), heat)


def _cell(sheet: Any, times: TimeScale, y: float, span: Any, heat: int) -> None:
    if heat < 0:
        return
    x = times.at(span[0])
    sheet.ground(f"heat-{heat}")
    sheet.rect(x, y + 0.2, times.at(span[1]) - x, _ROW - 0.4, style="F")
