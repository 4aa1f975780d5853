"""What each member has now and would have then, and how even both divisions are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rmqcore.model import sorted_client_ids

from .model import (
    NEVER,
    Comparison,
    Figures,
    MemberFigures,
    Row,
)


@dataclass(frozen=True, slots=True)
class MemberRow:
    """One member now and then; either side is None if it is not a member there."""

    client_id: str
    now: MemberFigures | None
    then: MemberFigures | None

    @property
    def drains_never(self) -> bool:
        return self.then is not None and self.then.drain_s == NEVER

    @property
    def drain_ms(self) -> float | None:
        if self.then is None or self.then.drain_s is None or self.drains_never:
            return None
        return self.then.drain_s * 1000


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """How even one measure is, now and then; None if that is not known."""

    measure: str
    now: tuple[float | None, float | None, float | None]
    then: tuple[float | None, float | None, float | None]

    @property
    def pairs(self) -> list[tuple[float | None, float | None]]:
        """Now and then of max / mean, coefficient of variation and Gini."""
        return list(zip(self.now, self.then, strict=True))


def member_rows(comparison: Comparison, row: Row) -> list[MemberRow]:
    """Return every member that there is now or then, in RocketMQ's order."""
    now = _by_client(comparison.rows[0].figures)
    then = _by_client(row.figures)
    return [
        MemberRow(client_id, now.get(client_id), then.get(client_id))
        for client_id in sorted_client_ids({*now, *then})
    ]


def score_rows(comparison: Comparison, row: Row) -> list[ScoreRow]:
    """Return how even load, lag and number of queues are."""
    now, then = comparison.rows[0].figures, row.figures
    return [
        ScoreRow(measure, _scores(now, measure), _scores(then, measure))
        for measure in ("by_load", "by_lag", "by_queues")
    ]


def heaviest(rows: Sequence[MemberRow], count: int) -> list[MemberRow]:
    """Return the members with the most load then, in RocketMQ's order."""
    if len(rows) <= count:
        return list(rows)
    ranked = sorted(rows, key=lambda row: -(row.then.load if row.then else 0.0))
    kept = {row.client_id for row in ranked[:count]}
    return [row for row in rows if row.client_id in kept]


def _by_client(figures: Figures | None) -> dict[str, MemberFigures]:
    return {each.client_id: each for each in figures.members} if figures else {}


def _scores(
    figures: Figures | None, measure: str
) -> tuple[float | None, float | None, float | None]:
    scores = getattr(figures, measure) if figures else None
    if scores is None:
        return None, None, None
    return scores.max_over_mean, scores.variation, scores.gini
