"""A scenario as the query of a URL, and back.

The query is compact, versioned and reversible: `from_query(to_query(s)) == s`. Defaults
are left out. Parts of one value are joined by ":"; within them "~" is written "~0" and
":" is "~1". Anything unknown is refused, since a link that is only half understood
would not show what it was made for.

    v  version            a  add         r  remove       m  old:new name
    q  topic:broker:count t  topic:rate  x  rate factor  k  member rate
    n  virtual nodes      o  room        i  inner        w  weighing
    s  strategy           b, c  separators of broker and client rooms
    B  broker:room        C  client:room g  client:topic:broker:ids, such as 0-5,9
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl, urlencode

from dashboard.wording.ranges import from_ranges, to_ranges
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue, sorted_queues

from .rooms import RoomRule
from .scenario import (
    QUEUE_LIMIT,
    QueueCount,
    Scenario,
    Weighing,
)

VERSION: Final = "1"
LENGTH_LIMIT: Final = 60_000
SINGLE: Final = frozenset("vsxkniwbc")
REPEATED: Final = frozenset("armqtoBCg")

T = TypeVar("T")


def to_query(scenario: Scenario) -> str:
    """Return the query of a scenario, without the question mark."""
    pairs: list[tuple[str, str]] = [("v", VERSION)]
    for key, value in (
        ("s", scenario.strategy),
        ("x", _decimal(scenario.rate_factor) if scenario.rate_factor != 1.0 else None),
        ("k", None if scenario.member_rate is None else _decimal(scenario.member_rate)),
        ("n", None if scenario.virtual_nodes is None else str(scenario.virtual_nodes)),
        ("i", scenario.inner),
        ("w", None if scenario.weighing is Weighing.RATE else scenario.weighing.value),
        ("b", scenario.broker_rooms.separator or None),
        ("c", scenario.client_rooms.separator or None),
    ):
        if value is not None:
            pairs.append((key, value))
    pairs.extend(("a", client_id) for client_id in scenario.add)
    pairs.extend(("r", client_id) for client_id in scenario.remove)
    pairs.extend(("m", joined(old, new)) for old, new in scenario.rename)
    pairs.extend(
        ("q", joined(each.topic, each.broker_name, str(each.count)))
        for each in scenario.queue_counts
    )
    pairs.extend(("t", joined(topic, _decimal(rate))) for topic, rate in scenario.rates)
    pairs.extend(("o", room) for room in scenario.rooms)
    pairs.extend(("B", joined(*pair)) for pair in scenario.broker_rooms.named)
    pairs.extend(("C", joined(*pair)) for pair in scenario.client_rooms.named)
    for client_id, queues in scenario.config:
        pairs.extend(("g", text) for text in _config_texts(client_id, queues))
    try:
        return urlencode(pairs)
    except UnicodeEncodeError as error:
        raise ArgumentError(f"a scenario with half a character: {error}") from None


def from_query(query: str) -> Scenario:
    """Return the scenario of a query; an empty query changes nothing.

    Raise ArgumentError that names the field and the value that cannot be read.
    """
    if len(query) > LENGTH_LIMIT:
        raise ArgumentError(
            f"scenario of {len(query):,} characters, limit {LENGTH_LIMIT:,}"
        )
    fields = _fields(query)
    if not fields:
        return Scenario()
    if fields.get("v") != [VERSION]:
        raise ArgumentError(
            f"scenario version {_only(fields, 'v')!r} is unknown; "
            f"the known one is {VERSION!r}"
        )
    return Scenario(
        strategy=_only(fields, "s"),
        add=tuple(fields.get("a", ())),
        remove=tuple(fields.get("r", ())),
        rename=tuple(_pairs(fields, "m")),
        queue_counts=tuple(
            QueueCount(topic, broker, _whole("q", count))
            for topic, broker, count in _parts(fields, "q", 3)
        ),
        rates=tuple((topic, _number("t", rate)) for topic, rate in _pairs(fields, "t")),
        rate_factor=_optional(fields, "x", _number, 1.0),
        member_rate=_optional(fields, "k", _number, None),
        virtual_nodes=_optional(fields, "n", _whole, None),
        rooms=tuple(fields.get("o", ())),
        inner=_only(fields, "i"),
        broker_rooms=RoomRule(_only(fields, "b") or "", tuple(_pairs(fields, "B"))),
        client_rooms=RoomRule(_only(fields, "c") or "", tuple(_pairs(fields, "C"))),
        config=_config(_parts(fields, "g", 4)),
        weighing=_optional(fields, "w", _weighing, Weighing.RATE),
    )


def _fields(query: str) -> dict[str, list[str]]:
    try:
        pairs = parse_qsl(
            query, keep_blank_values=True, strict_parsing=bool(query), errors="strict"
        )
    except ValueError as error:
        raise ArgumentError(
            f"scenario {query[:80]!r} is not a query: {error}"
        ) from None
    fields: dict[str, list[str]] = {}
    for key, value in pairs:
        if key not in SINGLE | REPEATED:
            raise ArgumentError(f"unknown field {key!r} with {value!r} in a scenario")
        if key in SINGLE and key in fields:
            raise ArgumentError(
                f"field {key!r} of a scenario is given twice: {value!r}"
            )
        fields.setdefault(key, []).append(value)
    return fields


def _only(fields: dict[str, list[str]], key: str) -> str | None:
    return fields[key][0] if key in fields else None


def _optional(
    fields: dict[str, list[str]], key: str, read: Callable[[str, str], T], default: Any
) -> Any:
    return read(key, fields[key][0]) if key in fields else default


def _parts(
    fields: dict[str, list[str]], key: str, count: int
) -> Iterable[tuple[str, ...]]:
    for text in fields.get(key, ()):
        parts = text.split(":")
        if len(parts) != count:
            raise ArgumentError(
                f"field {key!r} has {len(parts)} parts in {text!r}, it needs {count}"
            )
        yield tuple(part.replace("~1", ":").replace("~0", "~") for part in parts)


def _pairs(fields: dict[str, list[str]], key: str) -> Iterable[tuple[str, str]]:
    return ((first, second) for first, second in _parts(fields, key, 2))


def joined(*parts: str) -> str:
    """Return the parts of one value as one string."""
    return ":".join(part.replace("~", "~0").replace(":", "~1") for part in parts)


def _decimal(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _number(key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise ArgumentError(f"field {key!r} must be a number, got {text!r}")
    return value


def _whole(key: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ArgumentError(f"field {key!r} must be a whole number, got {text!r}")
    return int(text)


def _weighing(key: str, text: str) -> Weighing:
    try:
        return Weighing(text)
    except ValueError:
        known = ", ".join(Weighing)
        raise ArgumentError(
            f"field {key!r} must be one of {known}, got {text!r}"
        ) from None


def _config_texts(client_id: str, queues: Iterable[MessageQueue]) -> Iterable[str]:
    by_place: dict[tuple[str, str], list[int]] = {}
    for queue in sorted_queues(queues):
        by_place.setdefault((queue.topic, queue.broker_name), []).append(queue.queue_id)
    for (topic, broker_name), ids in by_place.items():
        yield joined(client_id, topic, broker_name, to_ranges(ids))


def _config(
    parts: Iterable[tuple[str, ...]],
) -> tuple[tuple[str, tuple[MessageQueue, ...]], ...]:
    lists: list[tuple[str, tuple[MessageQueue, ...]]] = []
    left = QUEUE_LIMIT
    for client_id, topic, broker_name, ranges in parts:
        ids = from_ranges(ranges)
        left -= len(ids)
        if left < 0:
            raise ArgumentError(f"CONFIG lists name more than {QUEUE_LIMIT:,} queues")
        queues = tuple(MessageQueue(topic, broker_name, queue_id) for queue_id in ids)
        lists.append((client_id, queues))
    return tuple(lists)
