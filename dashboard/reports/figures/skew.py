"""Skew over time: the load of the busiest member over the mean, per strategy.

A skew covers all queues: where the load of one is not known, there is no skew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from dashboard.reports.data.holes import (
    find_holes,
    known_steps,
    load_lack,
    path_of,
)
from dashboard.reports.data.values import Part, SkewSeries
from dashboard.reports.request.axis import Axis

from .layout import hatches, legend_below, shared_layout

COLORS: Final = (1, 6, 3, 11, 7, 5, 2, 8)
"""Owner hues that are easy to distinguish; the dash distinguishes them as well."""

DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def skew_over_time(
    axis: Axis, series: Sequence[SkewSeries], known: Mapping[datetime, Part]
) -> dict[str, Any]:
    """Return the figure of max / mean load by strategy; 1 is even.

    `known` gives for each step the number of queues with known rates.
    """
    paths = [path_of(axis, each.values) for each in series]
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": each.title,
            "x": [axis.local(when) for when, _of in path],
            "y": [None if of is None else each.values[of] for _when, of in path],
            "line": {
                "color": f"--owner-{COLORS[number % len(COLORS)]}",
                "width": 2.5 if each.in_use else 1.5,
                "dash": DASHES[number % len(DASHES)],
                "shape": "hv",
            },
            "connectgaps": False,
            "hovertemplate": "%{fullData.name}: %{y:.2f}×<extra></extra>",
        }
        for number, (each, path) in enumerate(zip(series, paths, strict=True))
    ]
    drawn = [known_steps(each.values) for each in series]
    holes = find_holes(axis, lambda at: load_lack(at, drawn, known))
    data += hatches(axis, holes, 1, yaxis="y2")
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
