"""The candidates of each group over the whole period: mean scores, moves, rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from analytics import contracts as c
from analytics.division import IN_USE
from rmqcore.allocation import BALANCED

from .scores import LAG, score_names
from .shares import EpochNames, Flags, Floats, Ints, StepRows, Values

SCORES: Final = (*score_names(LAG), *score_names(c.LOAD))
_EVENNESS: Final = f"{c.LOAD}_{c.MAX_TO_MEAN}"
_DIGITS: Final = 9
"""Equal loads that are summed in another order differ in the last digits."""

Scored = Mapping[str, Values]


@dataclass(frozen=True, slots=True)
class Changes:
    """What is known of groups besides their steps, by group number.

    `moves` counts, by candidate, the queues that changed hands from one epoch to the
    next; NaN where the candidate could not be computed. `in_use` has the strategies
    that epochs name, and who said so.
    """

    moves: Mapping[str, Floats]
    in_use: Mapping[tuple[int, str], str | None]


def strategy_totals(
    scored: Mapping[str, Scored], rows: StepRows, names: EpochNames, changes: Changes
) -> dict[str, Any]:
    """Return one row per group and candidate, as columns; rows are ranked by group.

    Ranked are RocketMQ's strategies with the actual members, if every queue had an
    owner and the load is known.
    """
    parts = [
        _totals(name, found, rows, changes.moves[name])
        for name, found in scored.items()
        if len(found[c.SINCE])
    ]
    columns: dict[str, Any] = {
        name: np.concatenate([part[name] for part in parts]) if parts else np.empty(0)
        for name in (*_FIGURES, _GROUP, c.EPOCH)
    }
    group = columns.pop(_GROUP).astype(np.int64)
    columns[c.STRATEGY] = [
        name
        for name, part in zip(_computed(scored), parts, strict=True)
        for _ in part[_GROUP]
    ]
    columns[c.RANK] = ranks_of(group, columns)
    named = list(zip(group.tolist(), columns[c.STRATEGY], strict=True))
    columns[c.IN_USE] = [each in changes.in_use for each in named]
    columns[c.STRATEGY_SOURCE] = [changes.in_use.get(each) for each in named]
    at = pa.array(columns.pop(c.EPOCH).astype(np.int64))
    for name in (c.CLUSTER, c.GROUP):
        columns[name] = names.column(name).take(at)
    return columns


_GROUP: Final = "group_at"
_FIGURES: Final = (
    c.SECONDS,
    c.UNKNOWN_SECONDS,
    c.EPOCH_COUNT,
    c.IDLE_SHARE,
    *SCORES,
    c.OVERLOAD_SECONDS,
    c.DRAIN_PEAK,
    c.NEVER_SECONDS,
    c.UNOWNED_COUNT,
    c.MOVES,
    c.MOVES_PER_CHANGE,
)


def _computed(scored: Mapping[str, Scored]) -> list[str]:
    return [name for name, found in scored.items() if len(found[c.SINCE])]


def _totals(
    name: str, found: Scored, rows: StepRows, moves: Floats
) -> dict[str, Values]:
    """Return the figures of one candidate over the steps of each group."""
    step = found[c.SINCE].astype(np.int64)
    of_group = _Runs(rows.group_no[step], found[c.SECONDS])
    epoch = rows.epoch_row[step]
    figures: dict[str, Values] = {
        _GROUP: of_group.key,
        c.EPOCH: epoch[of_group.first],
        c.SECONDS: of_group.sum(found[c.SECONDS]),
        c.UNKNOWN_SECONDS: of_group.sum(found[c.UNKNOWN_SECONDS]),
        c.EPOCH_COUNT: of_group.distinct(epoch),
        **{score: of_group.mean(found[score]) for score in SCORES},
        c.OVERLOAD_SECONDS: of_group.seconds_while(found[c.OVERLOAD]),
        c.DRAIN_PEAK: of_group.max(found[c.DRAIN_SECONDS]),
        c.NEVER_SECONDS: of_group.seconds_while(found[c.NEVER_DRAINS]),
        c.UNOWNED_COUNT: of_group.max(found[c.UNOWNED_COUNT].astype(np.float64)),
    }
    with np.errstate(divide="ignore", invalid="ignore"):
        idle = of_group.mean(found[c.IDLE_COUNT].astype(np.float64))
        members = of_group.mean(found[c.MEMBER_COUNT].astype(np.float64))
        figures[c.IDLE_SHARE] = idle / members
        figures[c.MOVES] = moves[of_group.key]
        changed = figures[c.EPOCH_COUNT] - 1
        per_change = figures[c.MOVES] / changed
        figures[c.MOVES_PER_CHANGE] = np.where(changed > 0, per_change, np.nan)
    return figures


class _Runs:
    """Sums over the steps of each group, which are stored contiguously."""

    def __init__(self, group_no: Ints, seconds: Values) -> None:
        changes = np.flatnonzero(group_no[1:] != group_no[:-1]) + 1
        self.first: Ints = np.concatenate([[0], changes])
        self.key: Ints = group_no[self.first]
        self._seconds = seconds

    def sum(self, values: Values) -> Floats:
        found: Floats = np.add.reduceat(values, self.first)
        return found

    def max(self, values: Values) -> Floats:
        found: Floats = np.fmax.reduceat(values, self.first)
        return found

    def distinct(self, sorted_values: Ints) -> Ints:
        changes = np.ones(len(sorted_values), np.int64)
        changes[1:] = sorted_values[1:] != sorted_values[:-1]
        changes[self.first] = 1
        found: Ints = np.add.reduceat(changes, self.first)
        return found

    def mean(self, values: Values) -> Floats:
        """Return a mean over the time in which the values are known."""
        weight = np.where(np.isnan(values), 0.0, self._seconds)
        total = self.sum(weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = self.sum(np.nan_to_num(values) * weight) / total
        return np.where(total > 0, mean, np.nan)

    def seconds_while(self, flag: Values) -> Floats:
        """Return the time in which a flag held; NaN where it was never known."""
        is_told = self.sum(np.where(np.isnan(flag), 0, 1)) > 0
        held = self.sum(np.where(flag == 1, self._seconds, 0.0))
        return np.where(is_told, held, np.nan)


def ranks_of(group: Ints, columns: Mapping[str, Any]) -> Floats:
    """Return ranks by evenness of load, then moves, then name; NaN without one."""
    found = np.full(len(group), np.nan)
    is_ranked: Flags = np.array(
        [_is_strategy(each) for each in columns[c.STRATEGY]], bool
    )
    is_ranked &= ~np.isnan(columns[_EVENNESS]) & (columns[c.UNOWNED_COUNT] == 0)
    row = np.flatnonzero(is_ranked)
    moves = np.where(np.isnan(columns[c.MOVES]), -1, columns[c.MOVES])
    strategies = sorted(set(columns[c.STRATEGY]))
    name = np.array([strategies.index(each) for each in columns[c.STRATEGY]], np.int64)
    evenness = np.round(columns[_EVENNESS], _DIGITS)
    row = row[np.lexsort((name[row], moves[row], evenness[row], group[row]))]
    place = np.arange(len(row))
    begins = np.concatenate([[True], group[row][1:] != group[row][:-1]])[: len(row)]
    first = np.maximum.accumulate(np.where(begins, place, 0))
    found[row] = place - first + 1
    return found


def _is_strategy(name: str) -> bool:
    return name != BALANCED and not name.startswith(IN_USE)
