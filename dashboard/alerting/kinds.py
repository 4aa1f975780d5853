"""What rules of alerts can be about: the kinds, their units and their limits.

A kind reads one figure of a group or of a broker, whose unit is the end of its name in
facts (`_ms` a span, everything else a count or a ratio).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from dashboard.models import AlertRule

Kind = AlertRule.Kind
Unit = Literal["messages", "ms", "members", "ratio", ""]

LEVELS: Final = ("crit", "warn")
"""What may stand for all findings of a level, in the place of one finding."""


@dataclass(frozen=True, slots=True)
class About:
    """What a kind reads.

    `usual` is the limit that a new rule offers, in the kind's unit, and `most` the
    greatest that is accepted; both None where the kind has no limit. `below` is set if
    it fires under its limit.
    """

    unit: Unit
    usual: float | None
    most: float | None
    below: bool = False
    broker: bool = False


MINUTE_MS: Final = 60_000
YEAR_MS: Final = 366 * 24 * 60 * MINUTE_MS

ABOUT: Final[Mapping[str, About]] = {
    Kind.LAG: About("messages", 100_000, 1e15),
    Kind.OLDEST: About("ms", 5 * MINUTE_MS, YEAR_MS),
    Kind.DRAIN: About("ms", 30 * MINUTE_MS, YEAR_MS),
    Kind.IN_STOPS: About("ms", 10 * MINUTE_MS, YEAR_MS),
    Kind.OUT_STOPS: About("ms", MINUTE_MS, YEAR_MS),
    Kind.FINDING: About("", None, None),
    Kind.MEMBERS: About("members", 1, 100_000, below=True),
    Kind.SKEW: About("ratio", 4.0, 1e6),
    Kind.DEAD_LETTERS: About("messages", 0, 1e15),
    Kind.BROKER: About("ms", 2 * MINUTE_MS, YEAR_MS, broker=True),
}
