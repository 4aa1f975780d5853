"""All members of a group went away, and messages are left.

Only for groups that were seen online: a group that nobody has run for long is not news,
and is shown as a group without members.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _
from rmqcore.model.snapshot import GroupKind

from .progress import LAG_FLOOR

KEY: Final = "gone"
GONE_MS: Final = 60_000
"""A restart takes less time."""


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Look for a group without members that had some, with messages waiting."""
    if evidence.group.kind is not GroupKind.OFFLINE:
        return None
    if missing := evidence.needs_brokers():
        return missing
    online, table = evidence.online_ms, evidence.group.queues
    if online is None or evidence.at_ms - online < GONE_MS:
        return None
    waiting = [
        row
        for row, lag in enumerate(table.lag)
        if lag and table.keys[row] not in explained
    ]
    if (evidence.lag_of(waiting).known or 0) < LAG_FLOOR:
        return None
    lag = evidence.lag_of(range(len(table)))
    return Finding(
        KEY,
        "crit",
        values={"lag": lag.known or 0, "gone_ms": evidence.at_ms - online},
        evidence=(
            ("last_member_at", online),
            ("waiting_messages", lag.known or 0),
        ),
        queues=evidence.keys_of(waiting),
        at_least=lag.marks("lag", "waiting_messages"),
    )


SAYS: Final = {
    "state": _("Members left"),
    "title": _("All members have left"),
    "text": _("The group has had no members for {gone_ms}, and {lag} messages wait."),
    "advice": _(
        "Start the consumers again. If the group is no longer needed, "
        "delete it, and this finding disappears."
    ),
}

RULE: Final = Rule(KEY, check, SAYS)
