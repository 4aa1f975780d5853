"""A finding of a rule: a fault or fact of a group that an operator should know of.

A finding carries keys and values, never text: `key` names the rule, `text` and `advice`
choose among the rule's sentences, `values` fill them in. The end of a value's name is
its unit: `_ms` a span of time, `_at` a time (ms since the epoch), `_rate` messages a
second; everything else is a count, a name or a list of names. Numbers that come from a
part of the group are named in `at_least`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rmqcore.model.columns import QueueKey

Level = Literal["crit", "warn", "info"]
Value = int | float | str | list[str]

WORST_FIRST: Final[tuple[Level, ...]] = ("crit", "warn", "info")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; `evidence` is shown beside the sentence, in this order.

    `queues` and `members` (client ids) are all those it concerns. `at_least` names the
    values and the evidence that may be more, as not all was known. `as_of_ms` is when
    it was last found, if it could not be checked since.
    """

    key: str
    level: Level
    text: str = "text"
    advice: str = "advice"
    values: Mapping[str, Value] = field(default_factory=dict)
    evidence: tuple[tuple[str, Value], ...] = ()
    queues: tuple[QueueKey, ...] = ()
    members: tuple[str, ...] = ()
    at_least: tuple[str, ...] = ()
    as_of_ms: int | None = None


def restored_finding(plain: Mapping[str, Any]) -> Finding:
    """Return a finding from its fields as plain values, as read back from JSON."""
    return Finding(
        key=plain["key"],
        level=plain["level"],
        text=plain["text"],
        advice=plain["advice"],
        values=plain["values"],
        evidence=tuple((name, value) for name, value in plain["evidence"]),
        queues=tuple(
            (topic, broker, number) for topic, broker, number in plain["queues"]
        ),
        members=tuple(plain["members"]),
        at_least=tuple(plain["at_least"]),
        as_of_ms=plain["as_of_ms"],
    )
