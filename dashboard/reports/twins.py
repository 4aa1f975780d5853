"""Each figure as a table, for who cannot see it and who wants the numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.charts.series import QueueRow
from dashboard.models import JobRun
from dashboard.views import figures

from .cells import in_zone
from .series import heat_lines, member_lines, shown_grouping, skew_lines
from .spans import span
from .steps import group_rows, highest, lag_steps, mean
from .strategies import StrategyRow, strategy_rows
from .words import grouping_word

MINUTE: Final = "%Y-%m-%d %H:%M"
SECOND: Final = "%Y-%m-%d %H:%M:%S"

Cell = str | None
"""Text as people read it; None is unknown."""


@dataclass(frozen=True, slots=True)
class Twin:
    """A figure's numbers: heads and rows; the first column names its row."""

    heads: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]


def twin_of(run: JobRun, name: str, zone: tzinfo) -> Twin:
    """Return the table of a figure; raises KeyError for an unknown name."""
    return TWINS[name](run, zone)


def _lag(run: JobRun, zone: tzinfo) -> Twin:
    stamp = _stamp(run)
    return Twin(
        (_("Time"), _("Lag, mean"), _("Lag, peak"), _("Oldest"), _("Queues known")),
        [
            (
                in_zone(step.since, zone).strftime(stamp),
                _written(step.lag, figures.count),
                _written(step.peak, figures.count),
                _written(step.age_ms, figures.duration),
                _("%(known)s of %(all)s") % {"known": step.known, "all": step.queues},
            )
            for step in lag_steps(group_rows(run))
        ],
    )


def _queues(run: JobRun, zone: tzinfo) -> Twin:
    return Twin(
        (
            grouping_word(shown_grouping(run)),
            _("Lag, mean"),
            _("Highest step"),
            _("From"),
            _("Last step"),
        ),
        [_line(line, zone) for line in heat_lines(run)],
    )


def _line(
    line: QueueRow, zone: tzinfo, write: Callable[[float], str] = figures.count
) -> Sequence[Cell]:
    top = highest(line.values.values())
    at = next((when for when, value in line.values.items() if value == top), None)
    last = line.values[max(line.values)]
    return (
        line.label,
        _written(mean(line.values.values()), write),
        _written(top, write),
        None if top is None or at is None else clock(at, zone),
        _written(last, write),
    )


def _skew(run: JobRun, zone: tzinfo) -> Twin:
    lines = skew_lines(run)
    moments = sorted({moment for line in lines for moment, _value in line.points})
    values = [dict(line.points) for line in lines]
    stamp = _stamp(run)
    return Twin(
        (_("Time"), *(line.title for line in lines)),
        [
            (
                in_zone(moment, zone).strftime(stamp),
                *(_written(line.get(moment), skew_text) for line in values),
            )
            for moment in moments
        ],
    )


def _strategies(run: JobRun, _zone: tzinfo) -> Twin:
    return Twin(
        (
            _("Strategy"),
            _("In use"),
            _("Rank"),
            _("Load, max / mean"),
            _("Load, variation"),
            _("Load, Gini"),
            _("Lag, max / mean"),
            _("Lag, variation"),
            _("Lag, Gini"),
            _("Idle share"),
            _("Moves"),
            _("Moves per change"),
            _("Worst time to drain"),
            _("Never drains for"),
            _("Overloaded for"),
            _("No owner"),
        ),
        [_strategy(row) for row in strategy_rows(run)],
    )


def _strategy(row: StrategyRow) -> Sequence[Cell]:
    scores = (
        *(row.load.max_to_mean, row.load.variation, row.load.gini),
        *(row.lag.max_to_mean, row.lag.variation, row.lag.gini),
    )
    return (
        row.title,
        row.use_word,
        _written(row.rank, figures.count) if row.is_strategy else "",
        *(_written(score, skew_text) for score in scores),
        _written(row.idle_share, percent_text),
        _written(row.moves, figures.count),
        _written(row.moves_per_change, _tenths),
        drain_text(row),
        _written(row.never, span),
        _written(row.overload, span),
        _written(row.unowned, figures.count),
    )


def drain_text(row: StrategyRow) -> Cell:
    """Write the worst time to drain: a span, never, or None where it is not known."""
    if row.never_drains:
        return _("never")
    return _written(row.drain, span)


def _members(run: JobRun, zone: tzinfo) -> Twin:
    return Twin(
        (
            _("Member"),
            _("Load, mean"),
            _("Highest step"),
            _("From"),
            _("Last step"),
        ),
        [_line(line, zone, figures.rate) for line in member_lines(run)],
    )


TWINS: Final[Mapping[str, Callable[[JobRun, tzinfo], Twin]]] = {
    "lag": _lag,
    "queues": _queues,
    "skew": _skew,
    "strategies": _strategies,
    "members": _members,
}


def _stamp(run: JobRun) -> str:
    """Return how a column of times is written: alike, with seconds where steps need."""
    return SECOND if run.summary["step_seconds"] % 60 else MINUTE


def skew_text(value: float) -> str:
    """Write a skew with the two places that tell strategies apart."""
    return f"{value:.2f}"


def clock(moment: datetime, zone: tzinfo) -> str:
    """Write a moment in a zone, with seconds where it has some."""
    local = in_zone(moment, zone)
    return local.strftime(SECOND if local.second else MINUTE)


def percent_text(value: float) -> str:
    """Write a share: 0.25 is 25 %."""
    return f"{value * 100:.0f} %"


def _tenths(value: float) -> str:
    return f"{value:.1f}"


def _written(value: Any, write: Callable[[Any], str]) -> Cell:
    return None if value is None else write(value)
