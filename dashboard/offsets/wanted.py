"""Where a group's offsets are to go, as the address of a page says.

| parameter | meaning |
| --- | --- |
| `to` | `time`, `earliest`, `latest`, `offset`, `group` or `undo` |
| `topic` | the topic |
| `queue` | `BROKER/ID`, as often as there are queues to move; none stands for all |
| `at` | of `time`: milliseconds since the epoch |
| `o.BROKER/ID` | of `offset`: the offset of one queue |
| `from` | of `group`: the group whose offsets are taken |
| `of` | of `undo`: the number of the move that is undone |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, cast, get_args
from urllib.parse import parse_qsl, urlencode

from rmqcore.errors import ArgumentError

Kind = Literal["time", "earliest", "latest", "offset", "group", "undo"]

KINDS: Final = frozenset(get_args(Kind))
MOST_QUEUES: Final = 2_000
"""The most queues that one address names, and that one move moves."""
MOST_OFFSET: Final = 2**63 - 1
MOST_MS: Final = 253_402_214_399_999
"""A day before the end of the year 9999, so that it is a time in every zone."""
_QUEUE: Final = re.compile(r"[^/]{1,255}/[0-9]{1,9}")
_DIGITS: Final = re.compile(r"[0-9]{1,19}")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The destination and the queues; an empty `queues` stands for all of the topic."""

    kind: Kind
    topic: str
    queues: frozenset[str] = frozenset()
    at_ms: int = 0
    offsets: Mapping[str, int] = field(default_factory=dict)
    source: str = ""
    undo_of: int = 0

    @classmethod
    def from_query(cls, query: str) -> Wanted:
        """Read an address's query; raise ArgumentError that names what is wrong."""
        try:
            pairs = parse_qsl(query, max_num_fields=2 * MOST_QUEUES)
        except ValueError:
            raise ArgumentError(
                f"more than {2 * MOST_QUEUES} parameters in one address"
            ) from None
        values = dict(pairs)
        kind, topic = values.get("to", ""), values.get("topic", "")
        if kind not in KINDS:
            known = ", ".join(sorted(KINDS))
            raise ArgumentError(f"to is {kind!r}, it must be one of {known}")
        if not topic or len(topic) > 255:
            raise ArgumentError(f"topic has {len(topic)} characters, 1 to 255 needed")
        return cls(
            kind=cast("Kind", kind),
            topic=topic,
            queues=_queues(value for name, value in pairs if name == "queue"),
            at_ms=_number("at", values, MOST_MS) if kind == "time" else 0,
            offsets=_offsets(pairs) if kind == "offset" else {},
            source=_source(values) if kind == "group" else "",
            undo_of=_number("of", values, MOST_OFFSET) if kind == "undo" else 0,
        )

    @property
    def query(self) -> str:
        """The same as the query of an address."""
        pairs = [("to", self.kind), ("topic", self.topic)]
        if self.kind == "time":
            pairs.append(("at", str(self.at_ms)))
        if self.kind == "group":
            pairs.append(("from", self.source))
        if self.kind == "undo":
            pairs.append(("of", str(self.undo_of)))
        pairs += [(f"o.{key}", str(at)) for key, at in sorted(self.offsets.items())]
        pairs += [("queue", key) for key in sorted(self.queues)]
        return urlencode(pairs)

    @property
    def told_ms(self) -> int | None:
        """The time to tell members that are online; None for the queue's end."""
        return None if self.kind == "latest" else self.at_ms

    @property
    def by_time(self) -> bool:
        """Whether every broker can tell its members where to go, by a time."""
        return self.kind in {"time", "earliest", "latest"} and not self.queues


def _queues(named: Iterable[str]) -> frozenset[str]:
    found = frozenset(named)
    if wrong := [key for key in found if not _QUEUE.fullmatch(key)]:
        raise ArgumentError(f"queue is {min(wrong)!r}, it must be BROKER/ID")
    if len(found) > MOST_QUEUES:
        raise ArgumentError(f"{len(found)} queues, limit {MOST_QUEUES}")
    return found


def _offsets(pairs: list[tuple[str, str]]) -> dict[str, int]:
    given = {name[2:]: value.strip() for name, value in pairs if name[:2] == "o."}
    given = {key: value for key, value in given.items() if value}
    _queues(given)
    return {key: _number(key, given, MOST_OFFSET) for key in given}


def _source(values: Mapping[str, str]) -> str:
    source = values.get("from", "").strip()
    if not source or len(source) > 255:
        raise ArgumentError(f"from has {len(source)} characters, 1 to 255 needed")
    return source


def _number(name: str, values: Mapping[str, str], most: int) -> int:
    text = values.get(name, "")
    if not _DIGITS.fullmatch(text) or int(text) > most:
        raise ArgumentError(f"{name} is {text[:40]!r}, 0 to {most} needed")
    return int(text)
