"""The state of a group in one word, and how bad that is.

The rules are tried in order; the first that holds gives the word. Floors keep small
numbers from being called trouble: 1 message against 5 is not an alarm. Knows nothing
but the figures it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from dashboard.live.documents import FindingState, Level, Status
from rmqcore.model.snapshot import GroupKind

LAG_FLOOR: Final = 1_000
"""Messages; less is not called lag, unless the oldest waits long."""
AGE_FLOOR_MS: Final = 60_000
RATE_FLOOR: Final = 1.0
"""Messages per second; smaller differences are not called a trend."""
RATE_MARGIN: Final = 0.05
"""Share of the incoming rate by which the outgoing must differ to be a trend."""
STALLED_AFTER_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class Figures:
    """What the rules look at; None is unknown."""

    kind: GroupKind
    members: int | None
    unowned: int
    lag: int | None
    oldest_ms: int | None
    rate_in: float | None
    rate_out: float | None
    still_for_ms: int | None
    """How long no committed offset has grown while there was lag."""


def _behind(figures: Figures) -> bool:
    return (figures.lag or 0) >= LAG_FLOOR or (figures.oldest_ms or 0) >= AGE_FLOOR_MS


def _trend(figures: Figures) -> float:
    """Return how fast the lag grows, in messages a second; 0 where it is no trend."""
    if figures.rate_in is None or figures.rate_out is None:
        return 0.0
    growth = figures.rate_in - figures.rate_out
    margin = max(RATE_FLOOR, figures.rate_in * RATE_MARGIN)
    return growth if abs(growth) > margin else 0.0


def _stalled(figures: Figures) -> bool:
    return (
        bool(figures.lag)
        and figures.still_for_ms is not None
        and figures.still_for_ms >= STALLED_AFTER_MS
    )


Rule = tuple[Callable[[Figures], bool], Status]

RULES: Final[tuple[Rule, ...]] = (
    (
        lambda f: f.kind in (GroupKind.BROADCASTING, GroupKind.MIXED),
        {"level": "unk", "word": "not_measured"},
    ),
    (lambda f: f.members == 0, {"level": "unk", "word": "no_members"}),
    (lambda f: f.unowned > 0, {"level": "crit", "word": "no_owner"}),
    (lambda f: f.lag is None, {"level": "unk", "word": "unknown"}),
    (_stalled, {"level": "crit", "word": "stalled"}),
    (
        lambda f: _behind(f) and _trend(f) > 0,
        {"level": "warn", "word": "falling_behind"},
    ),
    (lambda f: _behind(f) and _trend(f) < 0, {"level": "ok", "word": "catching_up"}),
)

HEALTHY: Final[Status] = {"level": "ok", "word": "healthy"}


def status_of(figures: Figures) -> Status:
    """Return the word of the first rule that holds, "healthy" when none does."""
    for holds, status in RULES:
        if holds(figures):
            return status
    return HEALTHY


def worst_of(status: Status, findings: Sequence[FindingState]) -> Status:
    """Return the status, or the worst finding where that is worse.

    A group whose figures look well may still lose messages. Findings come worst
    first; mere facts (info) are no state.
    """
    for finding in findings[:1]:
        level = finding["level"]
        if level != "info" and _SEVERITY[level] > _SEVERITY[status["level"]]:
            return {"level": level, "word": finding["key"]}
    return status


_SEVERITY: Final[dict[Level, int]] = {"ok": 0, "unk": 1, "warn": 2, "crit": 3}
