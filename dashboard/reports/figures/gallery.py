"""The figures of a finished run, from its data sets to Plotly documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Any, Final

from dashboard.models import JobRun
from dashboard.reports.data.series import (
    heat_lines,
    load_queues,
    member_lines,
    member_strategies,
    skew_lines,
    strategies_of,
)
from dashboard.reports.data.steps import epoch_bands, lag_steps
from dashboard.reports.request.axis import Axis
from dashboard.reports.request.periods import axis_of

from .heatmap import queue_heatmap
from .lag import lag_over_time
from .members import members_over_time
from .skew import skew_over_time
from .strategies import strategies_compared

GROUP_ONLY: Final = ("skew", "strategies", "members")
"""Figures that a report of all groups does not have."""


def figure_of(run: JobRun, name: str, zone: tzinfo) -> dict[str, Any]:
    """Return one figure of a finished run; raises KeyError for an unknown name."""
    return FIGURES[name](run, axis_of(run, zone))


def figure_names(run: JobRun) -> list[str]:
    """Return the figures that a run has, in their order on the page."""
    names = [name for name in FIGURES if run.group or name not in GROUP_ONLY]
    if "members" in names and not member_strategies(run):
        names.remove("members")
    return names


def _lag(run: JobRun, axis: Axis) -> dict[str, Any]:
    return lag_over_time(axis, lag_steps(run), epoch_bands(run))


def _queues(run: JobRun, axis: Axis) -> dict[str, Any]:
    return queue_heatmap(axis, heat_lines(run))


def _skew(run: JobRun, axis: Axis) -> dict[str, Any]:
    return skew_over_time(axis, skew_lines(run), load_queues(run))


def _strategies(run: JobRun, _axis: Axis) -> dict[str, Any]:
    return strategies_compared(strategies_of(run))


def _members(run: JobRun, axis: Axis) -> dict[str, Any]:
    return members_over_time(axis, member_lines(run), load_queues(run))


FIGURES: Final[Mapping[str, Callable[[JobRun, Axis], dict[str, Any]]]] = {
    "lag": _lag,
    "queues": _queues,
    "skew": _skew,
    "strategies": _strategies,
    "members": _members,
}
