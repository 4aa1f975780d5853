"""Queues that no member holds although the group is online.

Reported only when two complete rounds of asking, at least two seconds apart, show it; a
queue that is changing hands looks the same for an instant.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _

KEY: Final = "unowned_queues"
CAUSES: Final = (
    "shared_client_id",
    "different_topics",
    "mixed_strategies",
    "lock_expired",
)


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Look for confirmed queues without an owner that nothing else explains."""
    if not evidence.owned:
        return None
    table = evidence.group.queues
    rows = [r for r in evidence.rows_that("unowned") if table.keys[r] not in explained]
    if not rows:
        return evidence.needs_everybody()
    since = min(evidence.rows[row].since_ms or evidence.at_ms for row in rows)
    waiting = evidence.lag_of(rows)
    known = waiting.known
    expecting = {evidence.rows[row].expected for row in rows} - {None}
    return Finding(
        KEY,
        "crit",
        text="lag_unknown" if known is None else "text",
        values={"queues": len(rows), **({} if known is None else {"lag": known})},
        evidence=(
            ("queues", len(rows)),
            *((("waiting_messages", known),) if known is not None else ()),
            ("without_owner_ms", evidence.at_ms - since),
            *((("expected_owner", sorted(map(str, expecting))),) if expecting else ()),
        ),
        queues=evidence.keys_of(rows),
        members=tuple(sorted(str(client) for client in expecting)),
        at_least=() if known is None else waiting.marks("lag", "waiting_messages"),
    )


SAYS: Final = {
    "state": _("No owner"),
    "title": _("Queues without an owner"),
    "text": _(
        "Queues that nobody holds: {queues}; messages waiting there: "
        "{lag}. Every member was asked twice, and none named these "
        "queues."
    ),
    "lag_unknown": _(
        "Queues that nobody holds: {queues}; how many messages wait "
        "there is not known. Every member was asked twice, and none "
        "named these queues."
    ),
    "advice": _(
        "Check whether the expected owner hangs, or runs a strategy that "
        "leaves out queues (CONFIG, machine rooms). Restarting it makes "
        "it rebalance."
    ),
}

RULE: Final = Rule(
    KEY,
    check,
    SAYS,
    told=True,
    yields_to=CAUSES,
    adds_up=("queues", "lag", "waiting_messages", "expected_owner"),
)
