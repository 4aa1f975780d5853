"""What every figure shares: fonts, margins, the time axis, the hatch of a gap."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.views.figures import DAY, HOUR, MINUTE, SECOND, duration

from .series import Axis

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
        "margin": {"l": 72, "r": 12, "t": 8, "b": 44},
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
        },
    }


def count_axis(top: float, domain: Sequence[float]) -> dict[str, Any]:
    """Return an axis of whole numbers from 0; large ones in k and M.

    Zooming is along time alone, here and on every other axis of values.
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


def hatch(
    axis: Axis, gaps: Sequence[tuple[datetime, datetime]], height: float
) -> dict[str, Any]:
    """Return hatched bars over spans in which nothing was collected."""
    middles = [start + (end - start) / 2 for start, end in gaps]
    return {
        "type": "bar",
        "name": _("not collected"),
        "x": [axis.local(middle) for middle in middles],
        "width": [(end - start).total_seconds() * 1000 for start, end in gaps],
        "y": [height] * len(gaps),
        "marker": {
            "color": "rgba(0,0,0,0)",
            "line": {"width": 0},
            "pattern": {"shape": "/", "fgcolor": "--line-strong", "size": 6},
        },
        "hovertemplate": _("not collected") + "<extra></extra>",
    }
