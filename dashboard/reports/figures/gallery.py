"""The figures of a finished run, from its data sets to Plotly documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dashboard.reports.data.series import (
    heat_lines,
    load_queues,
    member_lines,
    member_strategies,
    skew_lines,
    strategies_of,
)
from dashboard.reports.data.steps import epoch_bands, lag_steps
from dashboard.reports.report import Report

from .heatmap import margin_for, queue_heatmap
from .lag import lag_over_time
from .members import members_over_time
from .skew import skew_over_time
from .strategies import strategies_compared

GROUP_ONLY: Final = ("skew", "strategies", "members")
"""Figures that a report of all groups does not have."""


def figure_of(report: Report, name: str) -> dict[str, Any]:
    """Return one figure of a finished run; raises KeyError for an unknown name."""
    return on_shared_axis(report, FIGURES[name](report))


def on_shared_axis(report: Report, figure: dict[str, Any]) -> dict[str, Any]:
    """Let a figure's time axis begin where it begins in all others of its report.

    The names of the map's rows need the most room beside it.
    """
    layout = figure["layout"]
    if layout.get("xaxis", {}).get("type") == "date":
        layout["margin"]["l"] = margin_for(heat_lines(report))
    return figure


def figure_names(report: Report) -> list[str]:
    """Return the figures that a run has, in their order on the page."""
    names = [name for name in FIGURES if report.group or name not in GROUP_ONLY]
    if "members" in names and not member_strategies(report):
        names.remove("members")
    return names


def _lag(report: Report) -> dict[str, Any]:
    return lag_over_time(report.axis, lag_steps(report), epoch_bands(report))


def _queues(report: Report) -> dict[str, Any]:
    return queue_heatmap(report.axis, heat_lines(report))


def _skew(report: Report) -> dict[str, Any]:
    return skew_over_time(report.axis, skew_lines(report), load_queues(report))


def _strategies(report: Report) -> dict[str, Any]:
    return strategies_compared(strategies_of(report))


def _members(report: Report) -> dict[str, Any]:
    return members_over_time(report.axis, member_lines(report), load_queues(report))


FIGURES: Final[Mapping[str, Callable[[Report], dict[str, Any]]]] = {
    "lag": _lag,
    "queues": _queues,
    "skew": _skew,
    "strategies": _strategies,
    "members": _members,
}
