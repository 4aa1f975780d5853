"""Which brokers are named, as far as whoever asks the name servers can know."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from .histories import NAME_SERVERS, NameServer, Step

PAUSE_MS: Final = 3_000
"""One that did not answer may be left alone for so long; then its last word counts."""


@dataclass(frozen=True)
class Naming:
    """What name servers said by some moment: each its last word.

    `ever` are the brokers that any of them named, `now` those that one names, and
    `since_ms` has when it was first heard that no word names a broker any more.
    """

    words: Mapping[int, frozenset[str]] = field(default_factory=dict)
    down_ms: Mapping[int, int] = field(default_factory=dict)
    ever: frozenset[str] = frozenset()
    now: frozenset[str] = frozenset()
    since_ms: Mapping[str, int] = field(default_factory=dict)

    def after(self, step: Step, brokers: Collection[str], at_ms: int) -> Naming:
        """Return what is known after they were asked at a step."""
        words, down_ms = dict(self.words), dict(self.down_ms)
        heard: set[str] = set()
        doubtful: set[str] = set()
        for number in range(NAME_SERVERS):
            server = step.naming.get(number, NameServer())
            before = words.get(number, frozenset())
            if server.down:
                down_ms[number] = at_ms
                doubtful |= before
                continue
            words[number] = frozenset(brokers) - frozenset(server.lacks)
            heard |= words[number]
            if at_ms - down_ms.get(number, -PAUSE_MS) < PAUSE_MS:
                doubtful |= before
        gone = self.ever - heard - doubtful if words else frozenset()
        since_ms = {name: self.since_ms.get(name, at_ms) for name in gone}
        return Naming(words, down_ms, self.ever | heard, frozenset(heard), since_ms)
