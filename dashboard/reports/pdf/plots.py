"""The figures of a report as lines and surfaces on a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.charts.heatmap import HEATS, level
from dashboard.charts.series import (
    Axis,
    EpochBand,
    LagStep,
    QueueRow,
    SkewSeries,
    gaps,
)
from dashboard.charts.skew import COLORS

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

LEFT: Final = 20.0
TICK: Final = 6.5
_ROW: Final = 3.6
_HATCH: Final = 1.6
_LEGEND: Final = 5.0
_DASHES: Final = ((0, 0), (2, 1), (0.5, 0.7), (2, 0.7), (3.5, 1), (3, 1.8))

Points = Sequence[tuple[float, float] | None]
"""Places of a line; None breaks it."""


def lag_plot(
    sheet: Any,
    axis: Axis,
    steps: Sequence[LagStep],
    epochs: Sequence[EpochBand],
) -> None:
    """Draw lag over age on one time axis, with the epochs and the gaps."""
    has_age = any(step.age_ms is not None for step in steps)
    height = 74.0 if has_age else 50.0
    sheet.room(height + 10)
    top = sheet.get_y() + 6
    lag_box = Box(MARGIN + LEFT, top, sheet.epw - LEFT, 40)
    boxes = [lag_box]
    if has_age:
        boxes.append(Box(lag_box.x, lag_box.bottom + 6, lag_box.width, 20))
    whole = Box(lag_box.x, top, lag_box.width, boxes[-1].bottom - top)
    times = TimeScale(axis, whole)
    missing = gaps(axis, [step.since for step in steps])
    _epochs(sheet, times, whole, epochs)
    peak = max((step.lag or 0 for step in steps), default=0)
    scale, ticks = count_scale(peak, lag_box)
    _value_axis(sheet, lag_box, ticks, _("Lag"))
    _hatched(sheet, times, lag_box, missing)
    lags = [(step.since, step.lag) for step in steps]
    _area(sheet, _places(times, scale, lags, missing), lag_box, "line-lag")
    if has_age:
        oldest = max((step.age_ms or 0 for step in steps), default=0)
        scale, ticks = span_scale(oldest, boxes[1])
        _value_axis(sheet, boxes[1], ticks, _("Oldest"))
        _hatched(sheet, times, boxes[1], missing)
        ages = [(step.since, step.age_ms) for step in steps]
        _area(sheet, _places(times, scale, ages, missing), boxes[1], "line-age")
    _time_axis(sheet, times, whole.bottom)
    sheet.set_y(whole.bottom + 7)


def heat_plot(sheet: Any, axis: Axis, lines: Sequence[QueueRow]) -> None:
    """Draw a line of levels per queue (or group, topic, consumer) over time."""
    label_width = 44.0
    box_width = sheet.epw - label_width
    missing = gaps(axis, sorted({at for line in lines for at in line.values}))
    sheet.room(min(len(lines), 12) * _ROW + 12)
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
        _hatched(sheet, times, box, missing)
        _time_axis(sheet, times, box.bottom)
        sheet.set_y(box.bottom + 6)
        if shown:
            sheet.add_page()
    _heat_legend(sheet)


def skew_plot(sheet: Any, axis: Axis, series: Sequence[SkewSeries]) -> None:
    """Draw max / mean load by strategy; a line keeps its dash and its hue."""
    sheet.room(52)
    box = Box(MARGIN + LEFT, sheet.get_y() + 3, sheet.epw - LEFT, 36)
    times = TimeScale(axis, box)
    known = [v for line in series for _at, v in line.points if v is not None]
    scale, ticks = ratio_scale(known, box)
    _value_axis(sheet, box, ticks, "")
    seen = sorted({at for line in series for at, _value in line.points})
    missing = gaps(axis, seen)
    _hatched(sheet, times, box, missing)
    for number, line in enumerate(series):
        _line_pen(sheet, number, in_use=line.in_use)
        _stroke(sheet, _places(times, scale, line.points, missing))
    sheet.set_dash_pattern()
    _time_axis(sheet, times, box.bottom)
    sheet.set_y(box.bottom + 7)
    _line_legend(sheet, [line.title for line in series])


def _line_pen(sheet: Any, number: int, *, in_use: bool) -> None:
    sheet.pen(f"owner-{COLORS[number % len(COLORS)]}", 0.5 if in_use else 0.3)
    dash, gap = _DASHES[number % len(_DASHES)]
    sheet.set_dash_pattern(dash=dash, gap=gap)


def _line_legend(sheet: Any, titles: Sequence[str]) -> None:
    x, y = MARGIN + LEFT, sheet.get_y() + _LEGEND / 2
    sheet.ink("ink-2", SMALL)
    for number, title in enumerate(titles):
        width = sheet.get_string_width(title) + 16
        if x + width > MARGIN + sheet.epw:
            x, y = MARGIN + LEFT, y + _LEGEND
        _line_pen(sheet, number, in_use=False)
        sheet.line(x, y, x + 8, y)
        sheet.label(x + 10, y, title, width=width)
        x += width
    sheet.set_dash_pattern()
    sheet.set_y(y + _LEGEND)


def _heat_legend(sheet: Any) -> None:
    sheet.room(_LEGEND + 2)
    y = sheet.get_y() + _LEGEND / 2
    sheet.ink("ink-2", SMALL)
    texts = ["0", "< 100", "< 1k", "< 10k", "< 100k", "100k+"]
    sheet.label(MARGIN, y, _("Lag"), width=14)
    x = MARGIN + 16
    for heat, text in zip(HEATS, texts, strict=True):
        sheet.ground(f"heat-{heat}")
        sheet.rect(x, y - 1.5, 5, 3, style="F")
        sheet.label(x + 6, y, text, width=14)
        x += 20
    sheet.pen("line-strong")
    _hatch(sheet, Box(x, y - 1.5, 5, 3))
    sheet.label(x + 6, y, _("not collected"), width=30)
    sheet.set_y(y + _LEGEND)


def _cells(sheet: Any, times: TimeScale, y: float, line: QueueRow) -> None:
    """Draw a line's steps; equal neighbours are one surface, so none shows a seam."""
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


def _epochs(
    sheet: Any, times: TimeScale, box: Box, epochs: Sequence[EpochBand]
) -> None:
    axis = times.axis
    for number, epoch in enumerate(sorted(epochs, key=lambda each: each.number)):
        start = max(epoch.began or axis.since, axis.since)
        end = min(epoch.ended or axis.until, axis.until)
        if start >= end:
            continue
        left, right = times.at(start), times.at(end)
        if number % 2:
            sheet.ground("sunken")
            sheet.rect(left, box.y, right - left, box.height, style="F")
        if start > axis.since:
            sheet.pen("ink-3", 0.2)
            sheet.set_dash_pattern(dash=0.8, gap=0.8)
            sheet.line(left, box.y - 4, left, box.bottom)
            sheet.set_dash_pattern()
        text = _("epoch %(number)s · %(members)s members") % {
            "number": epoch.number,
            "members": epoch.members,
        }
        sheet.ink("ink-3", TICK)
        if sheet.get_string_width(text) + 2 < right - left:
            sheet.label(left + 1, box.y - 2.5, text, width=right - left)


def _value_axis(sheet: Any, box: Box, ticks: Sequence[Tick], name: str) -> None:
    sheet.pen("line")
    for tick in ticks:
        sheet.line(box.x, tick.at, box.right, tick.at)
        sheet.ink("ink-3", TICK)
        sheet.label(box.x - 1.5, tick.at, tick.text, align="R", width=LEFT)
    if name:
        sheet.ink("ink", SMALL, bold=True)
        sheet.label(box.x - 1.5, box.y - 2.5, name, align="R", width=LEFT)


def _time_axis(sheet: Any, times: TimeScale, y: float) -> None:
    sheet.pen("line-strong", 0.2)
    sheet.line(times.box.x, y, times.box.right, y)
    sheet.ink("ink-3", TICK)
    for tick in times.ticks():
        sheet.line(tick.at, y, tick.at, y + 1)
        sheet.label(tick.at, y + 3, tick.text, align="C", width=18)


def _places(
    times: TimeScale,
    scale: ValueScale,
    points: Sequence[tuple[datetime, float | None]],
    missing: Sequence[tuple[datetime, datetime]],
) -> list[tuple[float, float] | None]:
    """Return the places of points, broken where a value or a span is not known."""
    starts = [start for start, _end in missing]
    found: list[tuple[float, float] | None] = []
    before: datetime | None = None
    for at, value in sorted(points, key=lambda point: point[0]):
        if before is not None and any(before < start <= at for start in starts):
            found.append(None)
        found.append(None if value is None else (times.at(at), scale.at(value)))
        before = at
    return found


def _pieces(places: Points) -> list[list[tuple[float, float]]]:
    pieces: list[list[tuple[float, float]]] = [[]]
    for place in places:
        if place is not None:
            pieces[-1].append(place)
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if piece]


def _stroke(sheet: Any, places: Points) -> None:
    for piece in _pieces(places):
        # A single known step between unknown ones is a short line, not nothing.
        sheet.polyline([*piece, (piece[0][0] + 0.4, piece[0][1])][: max(2, len(piece))])


def _area(sheet: Any, places: Points, box: Box, color: str) -> None:
    for piece in _pieces(places):
        outline = [(piece[0][0], box.bottom), *piece, (piece[-1][0], box.bottom)]
        sheet.ground(color)
        with sheet.local_context(fill_opacity=0.14):
            sheet.polygon(outline, style="F")
    sheet.pen(color, 0.35)
    _stroke(sheet, places)


def _hatched(
    sheet: Any,
    times: TimeScale,
    box: Box,
    spans: Sequence[tuple[datetime, datetime]],
) -> None:
    sheet.pen("line-strong", 0.15)
    for start, end in spans:
        left, right = times.at(start), times.at(end)
        _hatch(sheet, Box(left, box.y, right - left, box.height))


def _hatch(sheet: Any, box: Box) -> None:
    """Fill a box with slanted lines, each cut to the box."""
    offset = 0.0
    while offset < box.width + box.height:
        low, high = max(0.0, offset - box.width), min(offset, box.height)
        sheet.line(
            *(box.x + offset - low, box.y + low), *(box.x + offset - high, box.y + high)
        )
        offset += _HATCH
