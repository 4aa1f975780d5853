"""Skew over time: what the worst member would carry, over the mean, per strategy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from .layout import shared_layout
from .series import Axis, SkewSeries

COLORS: Final = (1, 6, 3, 11, 7, 5, 2, 8)
"""Owner hues that stay apart from each other; the dash tells them apart as well."""

_DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def skew_over_time(axis: Axis, series: Sequence[SkewSeries]) -> dict[str, Any]:
    """Return the figure of max / mean load by strategy; 1 is even."""
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": each.title,
            "x": [axis.local(time) for time, _value in each.points],
            "y": [value for _time, value in each.points],
            "line": {
                "color": f"--owner-{COLORS[number % len(COLORS)]}",
                "width": 2.5 if each.in_use else 1.5,
                "dash": _DASHES[number % len(_DASHES)],
                "shape": "hv",
            },
            "connectgaps": False,
            "hovertemplate": "%{fullData.name}: %{y:.2f}×<extra></extra>",
        }
        for number, each in enumerate(series)
    ]
    layout = shared_layout(axis) | {"height": 250, "showlegend": True}
    layout["legend"] = {"orientation": "h", "y": -0.24, "font": {"size": 11}}
    layout["yaxis"] = {
        "nticks": 5,
        "gridcolor": "--line",
        "ticksuffix": "×",
        "fixedrange": True,
        "zeroline": False,
    }
    return {"data": data, "layout": layout}
