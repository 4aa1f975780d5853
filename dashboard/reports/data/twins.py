"""Each figure as a table, for screen readers and for readers who want the numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import partial
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.reports.report import Report
from dashboard.reports.request.axis import Axis
from dashboard.reports.words import grouping_word
from dashboard.wording import numbers
from dashboard.wording.cells import in_zone

from .holes import (
    Hole,
    Lack,
    cell_lack,
    find_holes,
    lag_lack,
)
from .series import (
    heat_lines,
    member_lines,
    shown_grouping,
    skew_lines,
)
from .spans import span
from .steps import lag_steps, mean
from .strategies import StrategyRow, strategy_rows
from .values import LagStep, QueueRow

MINUTE: Final = "%Y-%m-%d %H:%M"
SECOND: Final = "%Y-%m-%d %H:%M:%S"

Cell = str | None
"""Text as people read it; None is unknown."""


@dataclass(frozen=True, slots=True)
class Twin:
    """A figure's numbers: heads and rows; the first column names its row."""

    heads: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]


def twin_of(report: Report, name: str) -> Twin:
    """Return the table of a figure; raises KeyError for an unknown name."""
    return TWINS[name](report)


def _lag(report: Report) -> Twin:
    steps = {step.since: step for step in lag_steps(report)}
    axis = report.axis
    rows = {
        at: _lag_row(step, in_zone(at, report.zone).strftime(_stamp(report)))
        for at, step in steps.items()
        if step.known
    }
    for hole in find_holes(axis, lambda at: lag_lack(steps.get(at))):
        if hole.lack is not Lack.PART:
            title = _between(hole, report.zone, _stamp(report))
            rows[hole.since] = (title, None, None, None, hole.text)
    return Twin(
        (_("Time"), _("Lag, mean"), _("Lag, peak"), _("Oldest"), _("Queues known")),
        [rows[at] for at in sorted(rows)],
    )


def _lag_row(step: LagStep, title: str) -> Sequence[Cell]:
    """Return the cells of a step; with ≥ where they cover a part of the queues."""
    write = _at_least if step.is_part else _written
    return (
        title,
        write(step.seen.mean, numbers.count),
        write(step.seen.peak, numbers.count),
        write(step.seen.age_ms, numbers.duration),
        _("%(known)s of %(all)s") % {"known": step.known, "all": step.queues},
    )


def _between(hole: Hole, zone: tzinfo, stamp: str) -> str:
    since, until = in_zone(hole.since, zone), in_zone(hole.until, zone)
    end = stamp.partition(" ")[2] if since.date() == until.date() else stamp
    return f"{since.strftime(stamp)} – {until.strftime(end)}"


def _queues(report: Report) -> Twin:
    axis = report.axis
    return Twin(
        (
            grouping_word(shown_grouping(report)),
            _("Lag, mean"),
            _("Highest step"),
            _("From"),
            _("Last step"),
            _("Not known for"),
        ),
        [
            (*_line(line, report.zone), span(_unknown_time(line, axis)))
            for line in heat_lines(report)
        ],
    )


def _unknown_time(line: QueueRow, axis: Axis) -> timedelta:
    """Return how long a row of the heatmap is hatched."""
    holes = find_holes(axis, partial(cell_lack, line))
    spans = (hole.until - hole.since for hole in holes if hole.lack is not Lack.VALUE)
    return sum(spans, timedelta(0))


def _line(
    line: QueueRow, zone: tzinfo, write: Callable[[float], str] = numbers.count
) -> Sequence[Cell]:
    """Return a line's name, mean, highest step with its time, and last step.

    The mean is over steps in which all queues are known; values of a part have a ≥.
    """
    seen = {at: (value, False) for at, value in line.values.items()}
    seen |= {at: (part.at_least, True) for at, part in line.parts.items()}
    known = {at: found for at, found in seen.items() if found[0] is not None}
    top = max(known, key=lambda at: known[at][0] or 0, default=None)
    last = max(seen, default=None)
    return (
        line.label,
        _written(mean(line.values.values()), write),
        None if top is None else _seen(known[top], write),
        None if top is None else clock(top, zone),
        None if last is None else _seen(seen[last], write),
    )


def _seen(found: tuple[float | None, bool], write: Callable[[float], str]) -> Cell:
    value, is_least = found
    return (_at_least if is_least else _written)(value, write)


def _skew(report: Report) -> Twin:
    lines = skew_lines(report)
    moments = sorted({moment for line in lines for moment in line.values})
    stamp = _stamp(report)
    return Twin(
        (_("Time"), *(line.title for line in lines)),
        [
            (
                in_zone(moment, report.zone).strftime(stamp),
                *(_written(line.values.get(moment), skew_text) for line in lines),
            )
            for moment in moments
        ],
    )


def _strategies(report: Report) -> Twin:
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
        [_strategy(row) for row in strategy_rows(report)],
    )


def _strategy(row: StrategyRow) -> Sequence[Cell]:
    scores = (
        *(row.load.max_to_mean, row.load.variation, row.load.gini),
        *(row.lag.max_to_mean, row.lag.variation, row.lag.gini),
    )
    return (
        row.title,
        row.use_word,
        _written(row.rank, numbers.count) if row.is_strategy else "",
        *(_written(score, skew_text) for score in scores),
        _written(row.idle_share, percent_text),
        _written(row.moves, numbers.count),
        _written(row.moves_per_change, _tenths),
        drain_text(row),
        _written(row.never, span),
        _written(row.overload, span),
        _written(row.unowned, numbers.count),
    )


def drain_text(row: StrategyRow) -> Cell:
    """Write the worst time to drain: a span, never, or None where it is not known."""
    if row.never_drains:
        return _("never")
    return _written(row.drain, span)


def _members(report: Report) -> Twin:
    return Twin(
        (
            _("Member"),
            _("Load, mean"),
            _("Highest step"),
            _("From"),
            _("Last step"),
        ),
        [_line(line, report.zone, numbers.rate) for line in member_lines(report)],
    )


TWINS: Final[Mapping[str, Callable[[Report], Twin]]] = {
    "lag": _lag,
    "queues": _queues,
    "skew": _skew,
    "strategies": _strategies,
    "members": _members,
}


def _stamp(report: Report) -> str:
    """Return the one format for a column of times, with seconds if steps need them."""
    return SECOND if report.step_seconds % 60 else MINUTE


def skew_text(value: float) -> str:
    """Write a skew with the two decimal places that distinguish strategies."""
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


def _at_least(value: Any, write: Callable[[Any], str]) -> Cell:
    return None if value is None else f"≥ {write(value)}"


def _written(value: Any, write: Callable[[Any], str]) -> Cell:
    return None if value is None else write(value)
