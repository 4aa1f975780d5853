"""Lag and age over time: two charts on one time axis, epochs marked, gaps hatched.

Two charts, not two scales in one: a lag of 100k and an age of a minute have no common
height. Where nothing was collected nothing is drawn, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.views.figures import duration

from .layout import axis_name, count_axis, duration_axis, hatch, shared_layout
from .series import Axis, EpochBand, LagStep, gaps

_LAG_DOMAIN: Final = (0.4, 0.92)
_AGE_DOMAIN: Final = (0.0, 0.28)
_ALONE_DOMAIN: Final = (0.0, 0.9)
_LABELLED_EPOCHS: Final = 8
"""So many labels fit side by side on a wide page; a shorter epoch goes without."""


def lag_over_time(
    axis: Axis, steps: Sequence[LagStep], epochs: Sequence[EpochBand]
) -> dict[str, Any]:
    """Return the figure of a group's lag, with the age of its oldest message below."""
    ordered = sorted(steps, key=lambda step: step.since)
    has_age = any(step.age_ms is not None for step in ordered)
    missing = gaps(axis, [step.since for step in ordered])
    data = [_line(axis, ordered)]
    if has_age:
        data.append(_age_line(axis, ordered))
    top = max((step.lag or 0 for step in ordered), default=0)
    if missing:
        data.append(hatch(axis, missing, max(top, 1)))
    layout = shared_layout(axis)
    layout["shapes"], notes = _bands(axis, epochs)
    layout["yaxis"] = count_axis(top, _LAG_DOMAIN if has_age else _ALONE_DOMAIN)
    notes.append(axis_name(_("Lag"), _LAG_DOMAIN[1] if has_age else _ALONE_DOMAIN[1]))
    if has_age:
        oldest = max((step.age_ms or 0 for step in ordered), default=0)
        layout["yaxis2"] = duration_axis(oldest, _AGE_DOMAIN)
        layout["xaxis"]["anchor"] = "y2"
        notes.append(axis_name(_("Oldest"), _AGE_DOMAIN[1]))
    layout["annotations"] = notes
    layout["height"] = 340 if has_age else 240
    return {"data": data, "layout": layout}


def _line(axis: Axis, steps: Sequence[LagStep]) -> dict[str, Any]:
    return _with_breaks(
        axis,
        steps,
        [step.lag for step in steps],
        {
            "type": "scatter",
            "mode": "lines",
            "name": _("Lag"),
            "line": {"color": "--line-lag", "width": 1.5},
            "fill": "tozeroy",
            "fillcolor": "--line-lag/14",
            "connectgaps": False,
            "customdata": [[step.peak, step.known, step.queues] for step in steps],
            "hovertemplate": _("%{y:,.0f} mean, %{customdata[0]:,.0f} peak")
            + "<br>"
            + _("%{customdata[1]} of %{customdata[2]} queues known")
            + "<extra></extra>",
        },
    )


def _age_line(axis: Axis, steps: Sequence[LagStep]) -> dict[str, Any]:
    return _with_breaks(
        axis,
        steps,
        [step.age_ms for step in steps],
        {
            "type": "scatter",
            "mode": "lines",
            "name": _("Oldest"),
            "yaxis": "y2",
            "line": {"color": "--line-age", "width": 1.5},
            "fill": "tozeroy",
            "fillcolor": "--line-age/14",
            "connectgaps": False,
            "customdata": [_age_word(step.age_ms) for step in steps],
            "hovertemplate": "%{customdata}<extra></extra>",
        },
    )


def _age_word(age_ms: float | None) -> str | None:
    return None if age_ms is None else duration(age_ms)


def _with_breaks(
    axis: Axis,
    steps: Sequence[LagStep],
    values: Sequence[float | None],
    trace: dict[str, Any],
) -> dict[str, Any]:
    """Add the points, with an empty one in each gap so that no line bridges it."""
    points = list(
        zip(
            (step.since for step in steps),
            values,
            trace.get("customdata") or [None] * len(steps),
            strict=True,
        )
    )
    for start, _end in gaps(axis, [step.since for step in steps]):
        points.append((start, None, None))
    points.sort(key=lambda point: point[0])
    trace["x"] = [axis.local(moment) for moment, _value, _data in points]
    trace["y"] = [value for _moment, value, _data in points]
    if "customdata" in trace:
        trace["customdata"] = [data for _moment, _value, data in points]
    return trace


def _bands(
    axis: Axis, epochs: Sequence[EpochBand]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    for number, epoch in enumerate(sorted(epochs, key=lambda epoch: epoch.number)):
        start = max(epoch.began or axis.since, axis.since)
        end = min(epoch.ended or axis.until, axis.until)
        if start >= end:
            continue
        if number % 2:
            shapes.append(
                {
                    "type": "rect",
                    "layer": "below",
                    "yref": "paper",
                    "y0": 0,
                    "y1": 1,
                    "x0": axis.local(start),
                    "x1": axis.local(end),
                    "fillcolor": "--sunken",
                    "line": {"width": 0},
                }
            )
        if start > axis.since:
            shapes.append(
                {
                    "type": "line",
                    "yref": "paper",
                    "y0": 0,
                    "y1": 1,
                    "x0": axis.local(start),
                    "x1": axis.local(start),
                    "line": {"color": "--ink-3", "width": 1, "dash": "dot"},
                }
            )
        if end - start >= (axis.until - axis.since) / _LABELLED_EPOCHS:
            share = (end - start) / (axis.until - axis.since)
            notes.append(_label(axis, start, epoch, share))
    return shapes, notes


def _label(axis: Axis, start: Any, epoch: EpochBand, share: float) -> dict[str, Any]:
    return {
        # The page leaves it out where its share of the width is less than it needs.
        "name": f"epoch {share:.3f}",
        "x": axis.local(start),
        "xanchor": "left",
        "y": 1,
        "yref": "paper",
        "yanchor": "top",
        "showarrow": False,
        "font": {"size": 11, "color": "--ink-3"},
        "text": _("epoch %(number)s · %(members)s members")
        % {"number": epoch.number, "members": epoch.members},
    }
