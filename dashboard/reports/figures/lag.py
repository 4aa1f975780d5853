"""Lag and age over time: two charts on one time axis, epochs marked, holes hatched.

There are two charts rather than two scales in one: a lag of 100k and an age of a minute
have no common height. Steps in which not all queues are known are hatched, never drawn
as 0 or as a part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.reports.data.holes import (
    Lack,
    age_lack,
    find_holes,
    lack_word,
    lag_lack,
    path_of,
)
from dashboard.reports.data.values import EpochBand, LagStep
from dashboard.reports.request.axis import Axis
from dashboard.wording.numbers import count, duration

from .layout import (
    axis_name,
    count_axis,
    duration_axis,
    hatches,
    legend_of_holes,
    shared_layout,
    told,
)

_LAG_DOMAIN: Final = (0.4, 0.92)
_AGE_DOMAIN: Final = (0.0, 0.28)
_ALONE_DOMAIN: Final = (0.0, 0.9)
_LABELLED_EPOCHS: Final = 60
"""Number of shortest labels that fit side by side on a wide page."""


@dataclass(frozen=True, slots=True)
class _Curve:
    """A line with the area below it; `data` accompanies its points, for programs."""

    name: str
    color: str
    yaxis: str
    values: Mapping[datetime, float | None]
    data: Mapping[datetime, Sequence[float | None]]


def lag_over_time(
    axis: Axis, steps: Sequence[LagStep], epochs: Sequence[EpochBand]
) -> dict[str, Any]:
    """Return the figure of a group's lag, with the age of its oldest message below.

    The lines come first among its traces.
    """
    by_time = {step.since: step for step in steps}
    has_age = any(step.age_ms is not None for step in steps)
    domain = _LAG_DOMAIN if has_age else _ALONE_DOMAIN
    layout = shared_layout(axis)
    layout["shapes"], notes = _bands(axis, epochs)
    layout["yaxis"] = count_axis(max((s.lag or 0 for s in steps), default=0), domain)
    notes.append(axis_name(_("Lag"), domain[1]))
    lag = _Curve(
        *(_("Lag"), "--line-lag", "y"),
        {at: step.lag for at, step in by_time.items()},
        {at: [step.peak, step.known, step.queues] for at, step in by_time.items()},
    )
    height = layout["yaxis"]["range"][1]
    holes = find_holes(axis, lambda at: lag_lack(by_time.get(at)))
    hatched = hatches(axis, holes, height)
    lines, below = [_line(axis, lag)], [_area(axis, lag)]
    below.append(told(axis, _lag_texts(by_time), height, lag.color))
    if has_age:
        oldest = max((step.age_ms or 0 for step in steps), default=0)
        layout["yaxis2"] = duration_axis(oldest, _AGE_DOMAIN)
        layout["xaxis"]["anchor"] = "y2"
        notes.append(axis_name(_("Oldest"), _AGE_DOMAIN[1]))
        ages = {at: step.age_ms for at, step in by_time.items()}
        age = _Curve(_("Oldest"), "--line-age", "y2", ages, {})
        height = layout["yaxis2"]["range"][1]
        texts = {at: duration(ms) for at, ms in ages.items() if ms is not None}
        lines.append(_line(axis, age))
        below.append(_area(axis, age))
        below.append(told(axis, texts, height, age.color) | {"yaxis": "y2"})
        hatched += _age_hatches(axis, by_time, height, hatched)
    layout["annotations"] = notes
    layout["height"] = 340 if has_age else 240
    layout |= legend_of_holes(hatched)
    return {"data": [*lines, *below, *hatched], "layout": layout}


def _line(axis: Axis, curve: _Curve) -> dict[str, Any]:
    path = path_of(axis, curve.values)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": curve.name,
        "yaxis": curve.yaxis,
        "x": [axis.local(when) for when, _of in path],
        "y": [None if of is None else curve.values[of] for _when, of in path],
        "customdata": [curve.data.get(of) if of else None for _when, of in path],
        "line": {"color": curve.color, "width": 1.5},
        "connectgaps": False,
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _area(axis: Axis, curve: _Curve) -> dict[str, Any]:
    """Return the area below a line, which drops to 0 wherever the line breaks.

    The fill of the line itself would continue through the breaks.
    """
    points: list[tuple[datetime, float | None]] = []
    is_broken = True
    for when, of in path_of(axis, curve.values):
        if is_broken or of is None:
            points.append((when, 0))
        if of is not None:
            points.append((when, curve.values[of]))
        is_broken = of is None
    return {
        "type": "scatter",
        "mode": "lines",
        "yaxis": curve.yaxis,
        "x": [axis.local(when) for when, _value in points],
        "y": [value for _when, value in points],
        "line": {"width": 0},
        "fill": "tozeroy",
        "fillcolor": f"{curve.color}/14",
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _lag_texts(steps: Mapping[datetime, LagStep]) -> dict[datetime, str]:
    """Return the lag of each step that is drawn, and its number of queues, as text."""
    return {
        at: "<br>".join(_lag_text(step)) for at, step in steps.items() if step.is_whole
    }


def _lag_text(step: LagStep) -> list[str]:
    mean = count(step.lag or 0)
    peak = mean if step.peak is None else count(step.peak)
    texts = [
        _("%(mean)s mean, %(peak)s peak") % {"mean": mean, "peak": peak},
        _("%(known)s of %(all)s queues known")
        % {"known": step.known, "all": step.queues},
    ]
    if step.unknown:
        text = _("at least one queue not known for %(time)s")
        texts.append(text % {"time": duration(step.unknown.total_seconds() * 1000)})
    return texts


def _age_hatches(
    axis: Axis,
    steps: Mapping[datetime, LagStep],
    height: float,
    named: Sequence[dict[str, Any]],
) -> list[dict[str, Any]]:
    """Hatch the age's own holes; names in the lag's legend are not repeated."""
    holes = find_holes(axis, lambda at: age_lack(steps.get(at)))
    traces = hatches(axis, holes, height, yaxis="y2")
    said = {trace["name"] for trace in named}
    for trace in traces:
        trace["legendgroup"] = trace["name"]
        trace["showlegend"] = trace["name"] not in said
        if trace["name"] == lack_word(Lack.NOTHING):
            trace |= {"hoverinfo": "skip", "hovertemplate": None}
    return traces


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
    words = {"number": epoch.number, "members": epoch.members}
    return {
        # Where the share of the width is less than the text needs, the page shows both
        # numbers or one of them; pointing at them shows the whole text.
        "name": f"epoch {share:.3f} {epoch.number} {epoch.members}",
        "x": axis.local(start),
        "xanchor": "left",
        "xshift": 2,
        "y": 1,
        "yref": "paper",
        "yanchor": "top",
        "showarrow": False,
        "font": {"size": 11, "color": "--ink-3"},
        "text": _("epoch %(number)s · %(members)s members") % words,
        "hovertext": _("epoch %(number)s · %(members)s members") % words,
    }
