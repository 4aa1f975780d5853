"""What of a timeline an address asks for.

| parameter | meaning |
| --- | --- |
| `minutes` | one of the usual spans |
| `since`, `until` | a span of its own, ms since the epoch |
| `until` | the end of the usual span; now where it is missing |
| `by` | lanes of `queues` or of `members` |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from .lanes import Window

MINUTES: Final = (5, 15, 60, 360, 1440)
DEFAULT_MINUTES: Final = 15
LANES: Final = ("queues", "members")
SHORTEST_MS: Final = 1_000
LONGEST_MS: Final = 1440 * 60_000
_DIGITS: Final = 14


@dataclass(frozen=True, slots=True)
class Choice:
    """What is asked for: `until` None is now, `since` is set for a selected span."""

    minutes: int = DEFAULT_MINUTES
    until: int | None = None
    by: str = ""
    since: int | None = None

    @classmethod
    def from_params(cls, params: Mapping[str, str]) -> Choice:
        """Read an address; invalid values get defaults."""
        minutes, by = params.get("minutes", ""), params.get("by", "")
        since, until = _ms(params.get("since", "")), _ms(params.get("until", ""))
        if since is not None:
            is_span = until is not None and SHORTEST_MS <= until - since <= LONGEST_MS
            since = since if is_span else None
        return cls(
            int(minutes) if minutes in map(str, MINUTES) else DEFAULT_MINUTES,
            until,
            by if by in LANES else "",
            since,
        )

    def window(self, now: int) -> Window:
        """Return the span; it never ends after `now` (ms)."""
        end = min(self.until or now, now)
        if self.since is not None and self.since < end:
            return Window(self.since, end)
        return Window(end - self.minutes * 60_000, end)

    @property
    def query(self) -> str:
        """The query of an address that asks for the same."""
        usual = "" if self.since is not None else str(self.minutes)
        pairs = [
            ("minutes", usual),
            ("since", str(self.since or "")),
            ("until", str(self.until or "")),
            ("by", self.by),
        ]
        return "?" + urlencode([pair for pair in pairs if pair[1]])

    def span(self, since: int, until: int) -> str:
        """Return the query of an address for a span, with the same lanes."""
        return Choice(self.minutes, until, self.by, since).query


def _ms(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else None
