"""A comparison as flat tables, for files that a spreadsheet or a program reads.

Values are numbers, strings, or None for unknown; a drain that never ends is the word
"never". One table has a line for each strategy, the other for each of its members.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rmqcore.allocation import NEVER, Scores

from .comparison import NOW, Comparison
from .document import NEVER_WORD
from .rows import Row

STRATEGY_COLUMNS: Final = (
    "strategy",
    "reason",
    "members",
    "queues",
    "moved",
    "gained",
    "lost",
    "unassigned",
    "idle",
    "load_max_over_mean",
    "load_variation",
    "load_gini",
    "lag_max_over_mean",
    "lag_variation",
    "lag_gini",
    "queues_max_over_mean",
    "queues_variation",
    "queues_gini",
    "worst_drain_s",
    "odd_queues_worst",
    "odd_queues_least_possible",
    "twice",
    "moves_unknown",
    "group_complete",
)
MEMBER_COLUMNS: Final = (
    "strategy",
    "client_id",
    "queues",
    "load",
    "load_unit",
    "lag",
    "lag_partial",
    "drain_s",
    "load_assumed",
)


def strategy_lines(comparison: Comparison) -> Iterator[list[Any]]:
    """Yield a line for each row of the comparison, in its order."""
    for row in comparison.rows:
        figures = row.figures
        if figures is None:
            reason = row.reason.code if row.reason else None
            empty = [None] * (len(STRATEGY_COLUMNS) - 2)
            yield [row.key, reason, *empty]
            continue
        yield [
            row.key,
            None,
            len(figures.members),
            len(figures.owners),
            len(figures.moved),
            len(figures.gained),
            len(figures.lost),
            figures.unassigned,
            None if figures.idle is None else len(figures.idle),
            *_scores(figures.by_load),
            *_scores(figures.by_lag),
            *_scores(figures.by_queues),
            _seconds(figures.worst_drain_s),
            figures.remainder.worst,
            figures.remainder.least_possible,
            figures.twice,
            len(figures.unheard),
            comparison.before.complete,
        ]


def member_lines(comparison: Comparison) -> Iterator[list[Any]]:
    """Yield a line for each member of each row that could be computed."""
    for row in comparison.rows:
        unit = "messages/s" if _is_rate(comparison, row) else "queues"
        for each in row.figures.members if row.figures else ():
            yield [
                row.key,
                each.client_id,
                each.queues,
                each.load,
                unit,
                each.lag,
                each.lag_partial,
                _seconds(each.drain_s),
                each.load_assumed,
            ]


def _is_rate(comparison: Comparison, row: Row) -> bool:
    if row.key == NOW and row.figures:
        return row.figures.columns.weights.is_rate
    return comparison.columns.weights.is_rate


def _scores(scores: Scores | None) -> tuple[float | None, float | None, float | None]:
    if scores is None:
        return None, None, None
    return scores.max_over_mean, scores.variation, scores.gini


def _seconds(seconds: float | None) -> float | str | None:
    return NEVER_WORD if seconds == NEVER else seconds
