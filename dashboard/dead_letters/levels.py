"""The delay levels of retries as rows: what waits, for how long, and when it comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dashboard.gateway.retry_levels import FIRST_RETRY_LEVEL, RetryLevel, RetryLevels

WIDTH: Final = 200
"""Width of a bar's drawing, in its own units."""


@dataclass(frozen=True, slots=True)
class LevelRow:
    """One level. `retry` is which retry waits there, None for levels before the first.

    `next_in_ms` is the time until the first of the group's is due, from now.
    """

    level: RetryLevel
    retry: int | None
    bar: str
    next_in_ms: int | None


def rows_of(found: RetryLevels, now_ms: int) -> Sequence[LevelRow]:
    """Return the levels of retries, and earlier ones only where something waits."""
    most = max((each.waiting for each in found.levels), default=0) or 1
    return [
        LevelRow(
            each,
            each.number - FIRST_RETRY_LEVEL + 1
            if each.number >= FIRST_RETRY_LEVEL
            else None,
            bar=f"{each.waiting / most * WIDTH:.1f}",
            next_in_ms=None if each.next_ms is None else max(0, each.next_ms - now_ms),
        )
        for each in found.levels
        if each.number >= FIRST_RETRY_LEVEL or each.waiting
    ]
