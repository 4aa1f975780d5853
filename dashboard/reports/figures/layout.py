"""Elements that all figures share: fonts, margins, the time axis, hatches of holes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from dashboard.reports.data.holes import Hole, Lack, lack_word
from dashboard.reports.request.axis import Axis
from dashboard.wording.numbers import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    duration,
)

_HATCHES: Final[Mapping[Lack, tuple[str, str]]] = {
    Lack.NOTHING: ("/", "--line-strong"),
    Lack.PART: ("\\", "--warn"),
    Lack.VALUE: ("-", "--line-strong"),
}
"""Pattern and colour of each kind of hole: the pattern alone distinguishes them."""

LEFT_PX: Final = 72
"""What is left of the time axis at least, for the numbers of an axis of values."""

_MS: Final = timedelta(milliseconds=1)
_SHORTENED_FROM: Final = 10_000
_WHOLE_BELOW: Final = 5
_SPANS: Final = (
    SECOND,
    5 * SECOND,
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
)
_TIME_FORMATS: Final = [
    {"dtickrange": [None, SECOND], "value": "%H:%M:%S.%L"},
    {"dtickrange": [SECOND, MINUTE], "value": "%H:%M:%S"},
    {"dtickrange": [MINUTE, DAY - 1], "value": "%H:%M\n%m-%d"},
    {"dtickrange": [DAY, "M1"], "value": "%m-%d\n%Y"},
    {"dtickrange": ["M1", None], "value": "%Y-%m"},
]
"""Numbers only: plotly.js would write the names of months in English."""


def shared_layout(axis: Axis) -> dict[str, Any]:
    """Return a fresh layout over the axis's period."""
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "--font", "size": 12, "color": "--ink-2"},
        "margin": {"l": LEFT_PX, "r": 12, "t": 8, "b": 44},
        "showlegend": False,
        "hovermode": "x unified",
        "hoverlabel": {
            "bgcolor": "--surface",
            "bordercolor": "--line",
            "font": {"color": "--ink"},
        },
        "dragmode": "zoom",
        "xaxis": {
            "type": "date",
            "range": axis.range,
            "showgrid": False,
            "linecolor": "--line-strong",
            "ticks": "outside",
            "tickcolor": "--line-strong",
            "tickformatstops": _TIME_FORMATS,
            "hoverformat": "%Y-%m-%d %H:%M:%S",
        },
    }


def count_axis(top: float, domain: Sequence[float]) -> dict[str, Any]:
    """Return an axis of whole numbers from 0; large ones in k and M.

    Only the time axis can be zoomed, neither this nor any other axis of values.
    """
    axis: dict[str, Any] = {
        "domain": list(domain),
        "range": [0, max(top, 1) * 1.08],
        "tickformat": ",d" if top < _SHORTENED_FROM else "~s",
        "nticks": 5,
        "gridcolor": "--line",
        "zeroline": False,
        "fixedrange": True,
    }
    if top < _WHOLE_BELOW:
        axis["dtick"] = 1
    return axis


def duration_axis(top_ms: float, domain: Sequence[float]) -> dict[str, Any]:
    """Return an axis of milliseconds from 0, labelled as spans of time."""
    step = next((each for each in _SPANS if top_ms <= each * 3), _SPANS[-1])
    while top_ms > step * 4:
        step *= 2
    ticks = [step * number for number in range(int(top_ms // step) + 2)]
    return {
        "domain": list(domain),
        "range": [0, max(top_ms, step) * 1.08],
        "tickvals": ticks,
        "ticktext": [duration(tick) if tick else "0" for tick in ticks],
        "gridcolor": "--line",
        "zeroline": False,
        "fixedrange": True,
    }


def axis_name(text: str, top: float) -> dict[str, Any]:
    """Return an axis's name, level beside its upper end: turned text reads badly."""
    return {
        "text": text,
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "xanchor": "right",
        "xshift": -8,
        "y": top,
        "yanchor": "bottom",
        "yshift": 2,
        "showarrow": False,
        "font": {"size": 12, "color": "--ink", "weight": 600},
    }


def legend_below() -> dict[str, Any]:
    """Return a legend at the lower edge of the figure; its page makes room for it."""
    return {
        "orientation": "h",
        "yref": "container",
        "y": 0,
        "yanchor": "bottom",
        "font": {"size": 11},
    }


def legend_of_holes(traces: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the part of a layout that names only the hatches in use."""
    if not traces:
        return {}
    fixed = {"itemclick": False, "itemdoubleclick": False}
    return {"showlegend": True, "legend": legend_below() | fixed}


def hatches(
    axis: Axis, holes: Sequence[Hole], height: float, **more: Any
) -> list[dict[str, Any]]:
    """Return hatched bars over the holes of a figure, a trace for each kind of them.

    They reach up to `height` on their axis of values; `more` goes into each trace.
    """
    boxes = [Hatched(hole, 0, height) for hole in holes]
    return hatched_boxes(axis, boxes, **more)


@dataclass(frozen=True, slots=True)
class Hatched:
    """A hole as a box: where it begins on the axis of values, and how high it is."""

    hole: Hole
    base: float
    height: float


def hatched_boxes(
    axis: Axis, boxes: Sequence[Hatched], **more: Any
) -> list[dict[str, Any]]:
    """Return hatched bars, one trace for each kind of hole, named as in a legend."""
    return [
        _hatched(axis, lack, [box for box in boxes if box.hole.lack is lack]) | more
        for lack in Lack
        if any(box.hole.lack is lack for box in boxes)
    ]


def _hatched(axis: Axis, lack: Lack, boxes: Sequence[Hatched]) -> dict[str, Any]:
    holes = [box.hole for box in boxes]
    shape, color = _HATCHES[lack]
    return _bars(axis, [(hole.since, hole.until, hole.text) for hole in holes]) | {
        "name": lack_word(lack),
        "y": [box.height for box in boxes],
        "base": [box.base for box in boxes],
        "marker": {
            "color": f"{color}/14",
            "line": {"width": 0},
            "pattern": {"shape": shape, "fgcolor": color, "size": 6},
        },
    }


def told(
    axis: Axis, texts: Mapping[datetime, str], height: float, color: str
) -> dict[str, Any]:
    """Return the hover text of each step, as invisible bars.

    A line would show its nearest point, so in a hole that of the steps beside it.
    """
    steps = [(at, axis.end_of(at), text) for at, text in sorted(texts.items())]
    return _bars(axis, steps) | {
        "y": [height] * len(steps),
        "marker": {"color": color, "opacity": 0},
        "showlegend": False,
    }


def _bars(
    axis: Axis, spans: Sequence[tuple[datetime, datetime, str]]
) -> dict[str, Any]:
    return {
        "type": "bar",
        "x": [axis.local(since) for since, _until, _text in spans],
        "offset": 0,
        "width": [(until - since) / _MS for since, until, _text in spans],
        "customdata": [text for _since, _until, text in spans],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
