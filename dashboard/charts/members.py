"""Load of each member over time, under one strategy: who carries too much, and when.

The busiest members are drawn, as many as can be told apart; the table has them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.collector.group_document import label_of

from .layout import axis_name, count_axis, hatch, legend_below, shared_layout
from .series import Axis, QueueRow, broken, gaps
from .skew import DASHES

MOST_LINES: Final = 8
_DOMAIN: Final = (0.0, 0.9)


def members_over_time(axis: Axis, lines: Sequence[QueueRow]) -> dict[str, Any]:
    """Return the figure of messages a second by member, the busiest first."""
    shown = shown_members(lines)
    top = max(
        (value or 0 for _label, line in shown for value in line.values.values()),
        default=0,
    )
    data: list[dict[str, Any]] = []
    for number, (label, line) in enumerate(shown):
        points = broken(axis, list(line.values.items()))
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": label,
                "x": [axis.local(at) for at, _value in points],
                "y": [value for _at, value in points],
                "line": {
                    "color": f"--owner-{number + 1}",
                    "width": 1.5,
                    "dash": DASHES[number % len(DASHES)],
                    "shape": "hv",
                },
                "connectgaps": False,
                "hovertemplate": "%{fullData.name}: %{y:,.1f}<extra></extra>",
            }
        )
    missing = gaps(axis, sorted({at for line in lines for at in line.values}))
    if missing:
        data.append(hatch(axis, missing, max(top, 1)) | {"showlegend": False})
    layout = shared_layout(axis) | {"height": 230, "showlegend": True}
    layout["legend"] = legend_below()
    layout["yaxis"] = count_axis(top, _DOMAIN)
    layout["annotations"] = [axis_name(_("msg/s"), _DOMAIN[1])]
    return {"data": data, "layout": layout}


def shown_members(lines: Sequence[QueueRow]) -> list[tuple[str, QueueRow]]:
    """Return the lines that are drawn, with labels as short as they stay different."""
    shown = list(lines[:MOST_LINES])
    labels = [label_of(line.label) for line in shown]
    return [
        (label if labels.count(label) == 1 else line.label, line)
        for label, line in zip(labels, shown, strict=True)
    ]
