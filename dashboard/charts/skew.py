"""Skew over time: what the worst member would carry, over the mean, per strategy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from .layout import hatch, legend_below, shared_layout
from .series import Axis, SkewSeries, broken, gaps

COLORS: Final = (1, 6, 3, 11, 7, 5, 2, 8)
"""Owner hues that stay apart from each other; the dash tells them apart as well."""

DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def skew_over_time(axis: Axis, series: Sequence[SkewSeries]) -> dict[str, Any]:
    """Return the figure of max / mean load by strategy; 1 is even."""
    lines = [broken(axis, each.points) for each in series]
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": each.title,
            "x": [axis.local(time) for time, _value in points],
            "y": [value for _time, value in points],
            "line": {
                "color": f"--owner-{COLORS[number % len(COLORS)]}",
                "width": 2.5 if each.in_use else 1.5,
                "dash": DASHES[number % len(DASHES)],
                "shape": "hv",
            },
            "connectgaps": False,
            "hovertemplate": "%{fullData.name}: %{y:.2f}×<extra></extra>",
        }
        for number, (each, points) in enumerate(zip(series, lines, strict=True))
    ]
    missing = gaps(axis, sorted({at for each in series for at, _value in each.points}))
    if missing:
        data.append(hatch(axis, missing, 1) | {"yaxis": "y2", "showlegend": False})
    layout = shared_layout(axis) | {"height": 230, "showlegend": True}
    layout["legend"] = legend_below()
    layout["yaxis"] = {
        "nticks": 5,
        "gridcolor": "--line",
        "ticksuffix": "×",
        "fixedrange": True,
        "zeroline": False,
    }
    layout["yaxis2"] = {
        "overlaying": "y",
        "range": [0, 1],
        "visible": False,
        "fixedrange": True,
    }
    return {"data": data, "layout": layout}
