"""Strategies over a period: the load of the busiest member over the mean, side by side.

Bars start at 1, because 1 is even: their length is the busiest member's excess load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.reports.data.values import Strategy

EVEN: Final = 1.0
_BAR_PX: Final = 26


def strategies_compared(strategies: Sequence[Strategy]) -> dict[str, Any]:
    """Return the figure of max / mean by strategy, in the order given."""
    names = [name for name, _skew, _best in strategies]
    skews = [skew for _name, skew, _best in strategies]
    known = [skew for skew in skews if skew is not None]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "y": names,
            "x": [None if skew is None else skew - EVEN for skew in skews],
            "base": EVEN,
            "customdata": skews,
            "text": [
                _("unknown") if skew is None else f"{skew:.2f}×" for skew in skews
            ],
            "textposition": "outside",
            "cliponaxis": False,
            "marker": {
                "color": [
                    "--accent" if is_best else "--line-strong"
                    for _name, _skew, is_best in strategies
                ]
            },
            "hovertemplate": "%{y}: %{customdata:.2f}×<extra></extra>",
        }
    ]
    top = max(known, default=EVEN)
    layout: dict[str, Any] = {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "--font", "size": 12, "color": "--ink-2"},
        "margin": {"l": 12, "r": 48, "t": 4, "b": 28},
        "showlegend": False,
        "dragmode": False,
        "bargap": 0.4,
        "height": 40 + _BAR_PX * max(2, len(names)),
        "xaxis": {
            "range": [EVEN, EVEN + max(top - EVEN, 0.1) * 1.12],
            "fixedrange": True,
            "ticksuffix": "×",
            "nticks": 5,
            "gridcolor": "--line",
            "zeroline": False,
        },
        "yaxis": {
            "type": "category",
            "autorange": "reversed",
            "fixedrange": True,
            "automargin": True,
        },
    }
    return {"data": data, "layout": layout}
