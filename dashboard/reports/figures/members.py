"""Load of each member over time, under one strategy: who has too much, and when.

The busiest members are drawn, as many as can be distinguished; the table has all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.reports.data.holes import (
    find_holes,
    known_steps,
    load_lack,
    path_of,
)
from dashboard.reports.data.values import Part, QueueRow
from dashboard.reports.request.axis import Axis
from dashboard.wording.names import label_of

from .layout import (
    axis_name,
    count_axis,
    hatches,
    legend_below,
    shared_layout,
)
from .skew import DASHES

MOST_LINES: Final = 8
_DOMAIN: Final = (0.0, 0.9)


def members_over_time(
    axis: Axis, lines: Sequence[QueueRow], known: Mapping[datetime, Part]
) -> dict[str, Any]:
    """Return the figure of messages per second by member, the busiest first.

    `known` gives for each step the number of queues with known rates.
    """
    shown = shown_members(lines)
    top = max(
        (value or 0 for _label, line in shown for value in line.values.values()),
        default=0,
    )
    data: list[dict[str, Any]] = []
    for number, (label, line) in enumerate(shown):
        path = path_of(axis, line.values)
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": label,
                "x": [axis.local(when) for when, _of in path],
                "y": [None if of is None else line.values[of] for _when, of in path],
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
    layout = shared_layout(axis) | {"height": 230, "showlegend": True}
    layout["legend"] = legend_below()
    layout["yaxis"] = count_axis(top, _DOMAIN)
    drawn = [known_steps(line.values) for line in lines]
    holes = find_holes(axis, lambda at: load_lack(at, drawn, known))
    data += hatches(axis, holes, layout["yaxis"]["range"][1])
    layout["annotations"] = [axis_name(_("msg/s"), _DOMAIN[1])]
    return {"data": data, "layout": layout}


def shown_members(lines: Sequence[QueueRow]) -> list[tuple[str, QueueRow]]:
    """Return the lines that are drawn, with the shortest distinct labels."""
    shown = list(lines[:MOST_LINES])
    labels = [label_of(line.label) for line in shown]
    return [
        (label if labels.count(label) == 1 else line.label, line)
        for label, line in zip(labels, shown, strict=True)
    ]
