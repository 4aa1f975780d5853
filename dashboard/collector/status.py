"""The state of a group in one word, and how bad it is.

Faults of a group are judged once, by the rules of `dashboard.findings`; its state is
the worst finding (`worst_of`). Figures alone (`status_of`) only tell what no rule
covers: that no member is there, that nothing is known, that the lag falls. Figures also
tell of queues without an owner: their finding, or the one that explains it, is based on
the same rows. This module knows only the figures it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dashboard.live.documents import FindingState, Level, Status
from rmqcore.model.snapshot import GroupKind

LAG_FLOOR: Final = 1_000
"""Messages; fewer are not called lag, unless the oldest has waited long."""
AGE_FLOOR_MS: Final = 60_000
RATE_FLOOR: Final = 1.0
"""Messages per second; smaller differences are not called a trend."""
RATE_MARGIN: Final = 0.05
"""Share of the incoming rate by which the outgoing must differ to be a trend."""

WORDS: Final[Mapping[str, str]] = {
    "losing_ground": "falling_behind",
    "unowned_queues": "no_owner",
}
"""The words of states whose finding has a different key."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures that the rules look at; None is unknown.

    `complete` when every broker of the group is named and answered.
    """

    kind: GroupKind
    members: int | None
    unowned: int
    lag: int | None
    oldest_ms: int | None
    rate_in: float | None
    rate_out: float | None
    complete: bool = True


def _behind(figures: Figures) -> bool:
    return (figures.lag or 0) >= LAG_FLOOR or (figures.oldest_ms or 0) >= AGE_FLOOR_MS


def _paced(figures: Figures) -> bool:
    """Tell whether anything is known of how the lag changes."""
    return figures.rate_in is not None and figures.rate_out is not None


def _falls(figures: Figures) -> bool:
    """Tell whether the lag falls, by the rates of the last half minute."""
    if figures.rate_in is None or figures.rate_out is None:
        return False
    margin = max(RATE_FLOOR, figures.rate_in * RATE_MARGIN)
    return figures.rate_out - figures.rate_in > margin


def _unowned(figures: Figures) -> bool:
    return figures.kind is GroupKind.OWNED and figures.unowned > 0


Rule = tuple[Callable[[Figures], bool], Status]

RULES: Final[tuple[Rule, ...]] = (
    (
        lambda f: f.kind in (GroupKind.BROADCASTING, GroupKind.MIXED),
        {"level": "unk", "word": "not_measured"},
    ),
    (_unowned, {"level": "crit", "word": "no_owner"}),
    (lambda f: not f.complete, {"level": "unk", "word": "unknown"}),
    (lambda f: f.members == 0, {"level": "unk", "word": "no_members"}),
    (lambda f: f.lag is None, {"level": "unk", "word": "unknown"}),
    (lambda f: _behind(f) and not _paced(f), {"level": "unk", "word": "unknown"}),
    (lambda f: _behind(f) and _falls(f), {"level": "ok", "word": "catching_up"}),
)

HEALTHY: Final[Status] = {"level": "ok", "word": "healthy"}


def status_of(figures: Figures) -> Status:
    """Return the status of the first rule that holds, "healthy" when none does."""
    for holds, status in RULES:
        if holds(figures):
            return status
    return HEALTHY


def worst_of(status: Status, findings: Sequence[FindingState]) -> Status:
    """Return the status, or the worst finding where that is worse.

    A group whose figures look good may still lose messages. Of several that are equally
    bad the first counts, which is the cause; mere facts (info) are not a state.
    """
    for finding in worst_first(findings)[:1]:
        level = finding["level"]
        if level != "info" and _SEVERITY[level] > _SEVERITY[status["level"]]:
            key = finding["key"]
            return {"level": level, "word": WORDS.get(key, key)}
    return status


def worst_first(findings: Sequence[FindingState]) -> list[FindingState]:
    """Return findings by level; equally bad ones keep their order, causes first."""
    return sorted(findings, key=lambda each: _LEVELS.index(each["level"]))


_LEVELS: Final = ("crit", "warn", "info")
_SEVERITY: Final[dict[Level, int]] = {"ok": 0, "unk": 1, "warn": 2, "crit": 3}
