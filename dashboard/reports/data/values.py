"""The values that figures are made of; `holes` has the rule for missing ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

BALANCED: Final = "BALANCED"
"""The plan of `rmqcore.allocation` that takes the weights of queues into account."""

_WITH_MEMBERS: Final = re.compile(r"in_use([+-]\d+)")
"""Names of the strategy in use with more or fewer members, such as in_use+1."""

Strategy = tuple[str, float | None, bool]
"""Its name, its max / mean (None is unknown), and whether it is the best."""


@dataclass(frozen=True, slots=True)
class Part:
    """The known part of a sum: the number of known queues, and their sum if any.

    The whole is at least that, since neither lag nor age nor a rate is below 0.
    """

    known: int
    queues: int
    at_least: float | None = None

    @property
    def is_part(self) -> bool:
        """True if some of the queues are known, but not all."""
        return 0 < self.known < self.queues

    @property
    def is_whole(self) -> bool:
        """True if all of the queues are known, so that `at_least` is the whole."""
        return 0 < self.queues <= self.known


@dataclass(frozen=True, slots=True)
class Lag:
    """Lag over some queues and the age of their oldest message; None is unknown."""

    mean: float | None
    peak: float | None = None
    age_ms: float | None = None


@dataclass(frozen=True, slots=True)
class LagStep:
    """One step of the lag over `queues`, of which `known` were seen.

    `lag`, `peak` and `age_ms` are of all queues: None if one is not known. The known
    time may be less than the step: for `unknown` of it some queue's lag was not known.
    """

    since: datetime
    known: int
    queues: int
    seen: Lag
    unknown: timedelta = timedelta(0)

    @property
    def is_whole(self) -> bool:
        """True if the lag seen is that of all queues, not of a part."""
        return 0 < self.queues <= self.known and self.seen.mean is not None

    @property
    def is_part(self) -> bool:
        """True if it is the lag of some of the queues."""
        return 0 < self.known < self.queues

    @property
    def lag(self) -> float | None:
        return self.seen.mean if self.is_whole else None

    @property
    def peak(self) -> float | None:
        return self.seen.peak if self.is_whole else None

    @property
    def age_ms(self) -> float | None:
        return self.seen.age_ms if self.is_whole else None

    def part(self, value: float | None) -> Part:
        """Return a seen value as the least that the whole can be."""
        return Part(self.known, self.queues, value)


@dataclass(frozen=True, slots=True)
class EpochBand:
    """A span with equal members and queues; None where it began before or goes on."""

    number: int
    members: int
    began: datetime | None
    ended: datetime | None


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One row of a heatmap: a queue's (or a group's) value at each step it has.

    `parts` has the steps of which only a part is known; their value is None. A consumer
    may have had no queues, in which case nothing is missing.
    """

    label: str
    values: dict[datetime, float | None]
    parts: dict[datetime, Part] = field(default_factory=dict)
    without_queues: frozenset[datetime] = frozenset()


@dataclass(frozen=True, slots=True)
class SkewSeries:
    """One strategy's max / mean at each step it has; None is unknown."""

    strategy: str
    in_use: bool
    values: Mapping[datetime, float | None]

    @property
    def title(self) -> str:
        """Its name for people, with a mark if it is in use."""
        if self.in_use:
            return _("%(strategy)s (in use)") % {"strategy": self.strategy}
        return strategy_title(self.strategy)


def added_members(strategy: str) -> int:
    """Return how many members the variant of that name adds (or removes); 0: none."""
    found = _WITH_MEMBERS.fullmatch(strategy)
    return int(found[1]) if found else 0


def strategy_title(strategy: str) -> str:
    """Return a strategy's name for people; RocketMQ's own are not translated."""
    if strategy == BALANCED:
        return _("Balanced plan")
    added = added_members(strategy)
    if not added:
        return strategy
    count = abs(added)
    if added > 0:
        text = ngettext("%(n)s member more", "%(n)s members more", count)
    else:
        text = ngettext("%(n)s member fewer", "%(n)s members fewer", count)
    return text % {"n": count}
