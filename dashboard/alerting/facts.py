"""What is kept of a group or broker when an alert opens for it: plain values.

Of a group: `value` and `limit` of the rule, `lag`, `rate_in`, `rate_out`, `members`;
`queues`, the worst first, each with `key` (topic|broker|id), `lag`, `rate_out`,
`owners` (client ids) and `still_ms`, and how many there are (`queue_count`); `silent`,
the owners that did not answer when asked; and `finding`, which explains it, or None. Of
a broker: `condition`, `since`, `address`, `error`, and `value` and `limit`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dashboard.live.documents import FindingState
from rmqcore.model.columns import QueueKey

from .kinds import Kind
from .looks import BrokerLook, GroupLook
from .movement import Movement
from .readings import Read
from .rules import Rule

QUEUES: Final = 10
"""More queues than this are counted, not kept."""

Facts = dict[str, Any]


def cause_of(rule: Rule, findings: Sequence[FindingState]) -> FindingState | None:
    """Return the finding that explains what a rule fires on; None if none does.

    Findings come causes first. Mere facts (`info`) explain nothing, unless the rule is
    about them.
    """
    for each in findings:
        about = rule.kind == Kind.FINDING and each["key"] in rule.finding.split()
        if about or (each["level"] != "info" and each.get("as_of") is None):
            return each
    return None


def group_facts(rule: Rule, look: GroupLook, read: Read, movement: Movement) -> Facts:
    """Return the facts of a group."""
    row, finding = look.row, cause_of(rule, look.findings)
    still = movement.still if rule.kind == Kind.OUT_STOPS else {}
    chosen = _rows(look, finding, still, rule.limit or 0)
    queues = [_queue(look, each, still) for each in chosen[:QUEUES]]
    owners = {owner for queue in queues for owner in queue["owners"]}
    return {
        "value": _plain(read.value),
        "partial": read.partial,
        "limit": rule.limit,
        "lag": row["lag"],
        "lag_partial": row["lag_partial"],
        "rate_in": row["rate_in"],
        "rate_out": row["rate_out"],
        "rate_partial": row.get("rate_partial", False),
        "members": row["members"],
        "queues": queues,
        "queue_count": len(chosen),
        "silent": [each for each in dict.fromkeys(look.silent) if each in owners],
        "finding": finding,
    }


def broker_facts(rule: Rule, look: BrokerLook, read: Read) -> Facts:
    """Return the facts of a broker."""
    return {
        "value": read.value,
        "limit": rule.limit,
        "condition": look.condition,
        "since": look.since_ms,
        "address": look.address,
        "error": look.error,
    }


def _plain(value: float | None) -> float | None:
    return None if value is None or math.isinf(value) else value


def _rows(
    look: GroupLook,
    finding: FindingState | None,
    still: Mapping[QueueKey, int],
    limit: float,
) -> list[int]:
    """Return the rows of the queues concerned: the longest still, or most lag, first.

    Those of the finding if it names some; otherwise all with messages waiting.
    """
    keys = look.table.keys
    if still:
        rows = [row for row, key in enumerate(keys) if still.get(key, 0) > limit]
        return sorted(rows, key=lambda row: (-still[keys[row]], keys[row]))
    named = frozenset(finding["queues"]) if finding is not None else frozenset()
    rows = [
        row
        for row, key in enumerate(keys)
        if (named and "|".join(map(str, key)) in named)
        or (not named and look.table.waiting(row))
    ]
    return sorted(rows, key=lambda row: (-(look.table.waiting(row) or 0), keys[row]))


def _queue(look: GroupLook, row: int, still: Mapping[QueueKey, int]) -> Facts:
    key = look.table.keys[row]
    rates, owners = look.rates_out, look.owners
    return {
        "key": "|".join(map(str, key)),
        "lag": look.table.waiting(row),
        "rate_out": rates[row] if row < len(rates) else None,
        "owners": list(owners[row]) if row < len(owners) else [],
        "still_ms": still.get(key),
    }
