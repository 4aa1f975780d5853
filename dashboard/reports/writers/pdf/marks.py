"""Elements of the figures on a sheet: axes, epochs, lines, hatches, legends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.reports.data.holes import (
    Hole,
    Lack,
    lack_word,
    path_of,
)
from dashboard.reports.data.values import EpochBand
from dashboard.reports.figures.heatmap import HEATS

from .scales import (
    Box,
    Tick,
    TimeScale,
    ValueScale,
)
from .sheet import MARGIN, SMALL

LEFT: Final = 20.0
TICK: Final = 6.5
_HATCH: Final = 1.6
_HATCHES: Final[Mapping[Lack, tuple[str, int]]] = {
    Lack.NOTHING: ("line-strong", 1),
    Lack.PART: ("warn", -1),
    Lack.VALUE: ("line-strong", 0),
}
"""Colour of each kind of hole, and the slant of its lines: up, down or none."""

_LEGEND: Final = 5.0
_DASHES: Final = ((0, 0), (2, 1), (0.5, 0.7), (2, 0.7), (3.5, 1), (3, 1.8))

Points = Sequence[tuple[float, float] | None]
"""Positions of a line's points; None breaks it."""


def value_axis(sheet: Any, box: Box, ticks: Sequence[Tick], name: str) -> None:
    """Draw a scale: its lines over a box, its labels, its name above."""
    sheet.pen("line")
    for tick in ticks:
        sheet.line(box.x, tick.at, box.right, tick.at)
        sheet.ink("ink-3", TICK)
        sheet.label(box.x - 1.5, tick.at, tick.text, align="R", width=LEFT)
    if name:
        sheet.ink("ink", SMALL, bold=True)
        sheet.label(box.x - 1.5, box.y - 2.5, name, align="R", width=LEFT)


def time_axis(sheet: Any, times: TimeScale, y: float) -> None:
    """Draw the time axis below a box, with its ticks."""
    sheet.pen("line-strong", 0.2)
    sheet.line(times.box.x, y, times.box.right, y)
    sheet.ink("ink-3", TICK)
    for tick in times.ticks():
        sheet.line(tick.at, y, tick.at, y + 1)
        sheet.label(tick.at, y + 3, tick.text, align="C", width=18)


def epoch_marks(
    sheet: Any, times: TimeScale, box: Box, epochs: Sequence[EpochBand]
) -> None:
    """Draw epochs as bands with their names, a dotted line where one begins."""
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
        for label in (text, f"{epoch.number} · {epoch.members}", str(epoch.number)):
            if sheet.get_string_width(label) + 1.5 < right - left:
                sheet.label(left + 1, box.y - 2.5, label, width=right - left)
                break


def places(
    times: TimeScale, scale: ValueScale, values: Mapping[datetime, float | None]
) -> list[tuple[float, float] | None]:
    """Return the positions of a line, broken at every step without a value."""
    found: list[tuple[float, float] | None] = []
    for when, of in path_of(times.axis, values):
        value = None if of is None else values[of]
        found.append(None if value is None else (times.at(when), scale.at(value)))
    return found


def stroke(sheet: Any, places: Points) -> None:
    """Draw a line through positions, with the current pen."""
    for piece in _pieces(places):
        sheet.polyline(piece)


def area(sheet: Any, places: Points, box: Box, color: str) -> None:
    """Draw a line, and the area below it down to the bottom of a box."""
    for piece in _pieces(places):
        outline = [(piece[0][0], box.bottom), *piece, (piece[-1][0], box.bottom)]
        sheet.ground(color)
        with sheet.local_context(fill_opacity=0.14):
            sheet.polygon(outline, style="F")
    sheet.pen(color, 0.35)
    stroke(sheet, places)


def line_pen(
    sheet: Any, number: int, hues: Sequence[int], *, in_use: bool = False
) -> None:
    """Take the hue and dash of the n-th of several lines."""
    sheet.pen(f"owner-{hues[number % len(hues)]}", 0.5 if in_use else 0.3)
    dash, gap = _DASHES[number % len(_DASHES)]
    sheet.set_dash_pattern(dash=dash, gap=gap)


def line_legend(sheet: Any, titles: Sequence[str], hues: Sequence[int]) -> None:
    """Write what each line stands for."""
    x, y = MARGIN + LEFT, sheet.get_y() + _LEGEND / 2
    sheet.ink("ink-2", SMALL)
    for number, title in enumerate(titles):
        width = sheet.get_string_width(title) + 16
        if x + width > MARGIN + sheet.epw:
            x, y = MARGIN + LEFT, y + _LEGEND
        line_pen(sheet, number, hues)
        sheet.line(x, y, x + 8, y)
        sheet.label(x + 10, y, title, width=width)
        x += width
    sheet.set_dash_pattern()
    sheet.set_y(y + _LEGEND)


def heat_legend(sheet: Any) -> None:
    """Write what each colour of a map of levels stands for."""
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
    sheet.set_y(y + _LEGEND)


def hatched(sheet: Any, times: TimeScale, box: Box, holes: Iterable[Hole]) -> None:
    """Hatch holes over the height of a box."""
    for hole in holes:
        left, right = times.at(hole.since), times.at(hole.until)
        hatch(sheet, Box(left, box.y, right - left, box.height), hole.lack)


def hatch(sheet: Any, box: Box, lack: Lack) -> None:
    """Fill a box with the lines of a kind of hole, each cut to the box.

    The lines lie on one grid of the sheet, so that adjacent boxes show no seam.
    """
    color, slant = _HATCHES[lack]
    sheet.pen(color, 0.15)
    if not slant:
        y = box.y + (-box.y) % _HATCH
        while y < box.bottom:
            sheet.line(box.x, y, box.right, y)
            y += _HATCH
        return
    # Each line has one value of x + slant · y; those of the box's corners are the
    # limits.
    corners = [x + slant * y for x in (box.x, box.right) for y in (box.y, box.bottom)]
    at = min(corners) + (-min(corners)) % _HATCH
    while at < max(corners):
        ends = sorted(slant * (at - x) for x in (box.x, box.right))
        low, high = max(ends[0], box.y), min(ends[1], box.bottom)
        if low < high:
            sheet.line(at - slant * low, low, at - slant * high, high)
        at += _HATCH


def hole_legend(sheet: Any, holes: Iterable[Hole], x: float = MARGIN + LEFT) -> None:
    """Write what each hatch in use stands for; nothing if there is none."""
    kinds = {hole.lack for hole in holes}
    shown = [lack for lack in Lack if lack in kinds]
    if not shown:
        return
    sheet.room(_LEGEND + 2)
    y = sheet.get_y() + _LEGEND / 2
    for lack in shown:
        hatch(sheet, Box(x, y - 1.5, 5, 3), lack)
        sheet.ink("ink-2", SMALL)
        word = lack_word(lack)
        width = sheet.get_string_width(word) + 2
        sheet.label(x + 6, y, word, width=width)
        x += width + 12
    sheet.set_y(y + _LEGEND)


def _pieces(places: Points) -> list[list[tuple[float, float]]]:
    pieces: list[list[tuple[float, float]]] = [[]]
    for place in places:
        if place is not None:
            pieces[-1].append(place)
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if piece]
