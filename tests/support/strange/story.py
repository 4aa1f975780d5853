"""What could be seen of a history while it was played, beside what was so."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dashboard import models
from dashboard.live.documents import GroupState, Overview

from .histories import Fault, History, Step
from .naming import Naming
from .truth import Truth


@dataclass(frozen=True)
class Asked:
    """One question of the collector; `groups` None for a sweep of all."""

    at_ms: int
    groups: frozenset[str] | None


@dataclass(frozen=True)
class Seen:
    """What could be seen after one step, and what was so then.

    Facts taken from `began_ms` on and before `ended_ms` are those of `before` and
    `after` what happened meanwhile, or, of brokers whose slave answered, of `behind`.
    `documents` and `overview` are what the cache held after the step, `messages` what
    watchers of a group were sent during it, `faults` what was logged as wrong, `named`
    what the name servers had said of brokers by then.
    """

    step: Step
    before: Truth
    after: Truth
    behind: Truth
    began_ms: int
    ended_ms: int
    documents: Mapping[str, GroupState]
    overview: Overview | None
    messages: Mapping[str, list[dict[str, Any]]]
    asked: tuple[Asked, ...]
    faults: tuple[str, ...]
    named: Naming

    @property
    def truths(self) -> tuple[Truth, ...]:
        """Return everything that was so while the facts of the step were taken."""
        return self.before, self.after

    @property
    def torn(self) -> bool:
        """Tell whether something happened between two answers of one look."""
        return self.before != self.after

    def fault(self, broker: str) -> Fault | None:
        """Return what was wrong with a broker that is named."""
        return self.step.faults.get(broker)

    def unheard(self, broker: str, *codes: int) -> bool:
        """Tell whether a broker that was ever named cannot tell what these ask.

        One that nobody names any more cannot, whatever it answers.
        """
        if broker not in self.named.ever:
            return False
        fault = self.fault(broker)
        if broker in self.named.since_ms:
            return True
        if fault is None or fault.ill in ("slave", "headless"):
            return False
        return not fault.codes or fault.ill == "cut" or bool({*codes} & {*fault.codes})

    def away_ms(self, broker: str) -> int:
        """Return how long nobody has named a broker; 0 while it is named."""
        return self.began_ms - self.named.since_ms.get(broker, self.began_ms)

    @property
    def whole(self) -> bool:
        """Tell whether every broker is named, and well."""
        return self.named.now.issuperset(self.after.brokers) and all(
            self.fault(broker) is None for broker in self.after.brokers
        )


@dataclass
class Story:
    """A whole history as it was seen, and what it left behind for good."""

    cluster: str
    history: History
    seen: list[Seen] = field(default_factory=list)
    samples: list[dict[str, Any]] = field(default_factory=list)
    epochs: list[models.Epoch] = field(default_factory=list)
    events: list[models.OwnershipEvent] = field(default_factory=list)
    last_faults: tuple[str, ...] = ()

    def at(self, ms: int) -> Seen | None:
        """Return the step in which facts of that time were taken."""
        for seen in self.seen:
            if seen.began_ms <= ms < seen.ended_ms:
                return seen
        return None


class _Faults(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []
        self.setFormatter(logging.Formatter("%(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] not in _QUIET:
            self.found.append(self.format(record))


_QUIET = {"rmqcore", "hypothesis"}
"""A warning of the protocol layer is how it says that a peer misbehaves."""


@contextmanager
def logged() -> Iterator[list[str]]:
    """Give the list of what is logged as a warning or worse while it is open."""
    handler = _Faults()
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield handler.found
    finally:
        root.removeHandler(handler)
