"""Lag per queue over time, as levels: which queue stays behind, and since when.

There are six levels in powers of ten, the same as on the allocation map, because a
linear scale would show one hot queue and hide everything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.reports.data.holes import Hole, cell_lack, find_holes
from dashboard.reports.data.values import QueueRow
from dashboard.reports.request.axis import Axis

from .layout import (
    LEFT_PX,
    Hatched,
    hatched_boxes,
    legend_of_holes,
    shared_layout,
)

LEVELS: Final = (0, 100, 1_000, 10_000, 100_000)
"""A lag above the n-th bound has level n + 1; no lag has level 0."""

HEATS: Final = (0, 1, 2, 3, 4, 6)
_ROW_PX: Final = 14
MOST_ROWS: Final = 200
_MOST_LETTERS: Final = 26
_LETTER_PX: Final = 6
_IDEOGRAPH_PX: Final = 11


def level(lag: float) -> int:
    """Return the level of a lag, 0 to 5."""
    return sum(1 for bound in LEVELS if lag > bound)


def queue_heatmap(axis: Axis, rows: Sequence[QueueRow]) -> dict[str, Any]:
    """Return the figure of rows × time; the first row is drawn on top."""
    shown = list(rows[:MOST_ROWS])
    times = axis.steps()
    values = [[row.values.get(time) for time in times] for row in shown]
    half_step = axis.step / 2
    data: list[dict[str, Any]] = [
        {
            "type": "heatmap",
            "x": [axis.local(time + half_step) for time in times],
            "y": [row.label for row in shown],
            "z": [
                [None if value is None else level(value) for value in line]
                for line in values
            ],
            "customdata": values,
            "zmin": 0,
            "zmax": len(HEATS) - 1,
            "colorscale": _colors(),
            "showscale": False,
            "xgap": 0,
            "ygap": 2,
            "hoverongaps": False,
            "hovertemplate": "%{y}<br>%{x}<br>"
            + _("lag %{customdata:,.0f}")
            + "<extra></extra>",
        }
    ]
    hatched = hatched_boxes(
        axis,
        [
            Hatched(hole, len(shown) - first - count, count)
            for hole, first, count in holes_of_rows(axis, shown)
        ],
        yaxis="y2",
    )
    layout = shared_layout(axis) | {"hovermode": "closest"} | legend_of_holes(hatched)
    layout["yaxis"] = {
        "type": "category",
        "autorange": "reversed",
        "showgrid": False,
        "fixedrange": True,
        "tickmode": "array",
        "tickvals": [row.label for row in shown],
        "ticktext": [shortened(row.label) for row in shown],
        "tickfont": {"size": 11},
    }
    layout["yaxis2"] = {
        "overlaying": "y",
        "range": [0, max(1, len(shown))],
        "visible": False,
        "fixedrange": True,
    }
    layout["height"] = 60 + _ROW_PX * max(4, len(shown))
    return {"data": data + hatched, "layout": layout}


def margin_for(rows: Sequence[QueueRow]) -> int:
    """Return the pixels that the names of the rows need left of the axis."""
    longest = max((_width(shortened(row.label)) for row in rows[:MOST_ROWS]), default=0)
    return max(LEFT_PX, longest + 14)


def shortened(label: str) -> str:
    """Return a row's name, with its middle left out where it is long."""
    if len(label) <= _MOST_LETTERS:
        return label
    return f"{label[: _MOST_LETTERS // 2 - 1]}…{label[-_MOST_LETTERS // 2 :]}"


def _width(text: str) -> int:
    return sum(_IDEOGRAPH_PX if sign > "\u2e7f" else _LETTER_PX for sign in text)


def holes_of_rows(axis: Axis, rows: Sequence[QueueRow]) -> list[tuple[Hole, int, int]]:
    """Return the holes of rows, each with its first row and its number of rows.

    Adjacent rows with the same lack at the same time share one hole.
    """
    running: dict[Hole, tuple[int, int]] = {}
    found: list[tuple[Hole, int, int]] = []
    for number, row in enumerate(rows):
        ended, running = running, {}
        for hole in find_holes(axis, partial(cell_lack, row)):
            first, count = ended.pop(hole, (number, 0))
            running[hole] = (first, count + 1)
        found += [(hole, *place) for hole, place in ended.items()]
    return found + [(hole, *place) for hole, place in running.items()]


def _colors() -> list[list[Any]]:
    """Return a scale of steps: each level keeps one colour over its whole width."""
    scale: list[list[Any]] = []
    last = len(HEATS) - 1
    for number, heat in enumerate(HEATS):
        low = max(0.0, (number - 0.5) / last)
        high = min(1.0, (number + 0.5) / last)
        scale += [[low, f"--heat-{heat}"], [high, f"--heat-{heat}"]]
    return scale
