"""Queues that more than one member holds, for longer than a rebalance.

Their messages are consumed twice and the commits overwrite each other. Reported only
when two complete rounds of asking, at least two seconds apart, show it.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _

KEY: Final = "owned_twice"


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Look for confirmed double owners that nothing else explains."""
    if not evidence.owned:
        return None
    keys = evidence.group.queues.keys
    rows = [r for r in evidence.rows_that("double") if keys[r] not in explained]
    if not rows:
        return evidence.needs_everybody()
    since = min(evidence.rows[row].since_ms or evidence.at_ms for row in rows)
    owners = sorted({owner for row in rows for owner in evidence.rows[row].owners})
    return Finding(
        KEY,
        "crit",
        values={"queues": len(rows), "owners": owners},
        evidence=(
            ("queues", len(rows)),
            ("held_by", owners),
            ("held_twice_ms", evidence.at_ms - since),
        ),
        queues=evidence.keys_of(rows),
        members=tuple(owners),
    )


SAYS: Final = {
    "state": _("Owned twice"),
    "title": _("Queues owned twice"),
    "text": _(
        "Queues with more than one owner for longer than a rebalance "
        "takes: {queues}. Owners: {owners}. The messages of these queues "
        "are consumed twice."
    ),
    "advice": _(
        "The members see different member lists, or divide differently. "
        "Check whether all are connected to all brokers and run the same "
        "release; restarting one of the owners makes it rebalance."
    ),
}

RULE: Final = Rule(
    KEY,
    check,
    SAYS,
    told=True,
    yields_to=("shared_client_id", "different_topics", "mixed_strategies"),
    adds_up=("queues", "owners", "held_by"),
)
