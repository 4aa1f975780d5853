"""A member holds a queue with messages waiting, and has not pulled it for a minute.

A broker holds a pull for half a minute at most, and flow control checks again within a
second: a member that does not even ask hangs, or its pull service has ended.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.memory.kinds import PULLED_LAST
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _
from rmqcore.model.columns import QueueKey

from .progress import LAG_FLOOR

KEY: Final = "stopped"
NOT_PULLED_MS: Final = 60_000


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Look for lagging queues whose last pull stays the same."""
    if not evidence.commits_tell:
        return None
    table = evidence.group.queues
    rows = {
        key: row
        for row, key in enumerate(table.keys)
        if (table.lag[row] or 0) >= LAG_FLOOR and key not in explained
    }
    still: dict[QueueKey, tuple[str, int]] = {}
    for member in evidence.group.members:
        for key, held in member.held.items():
            subject = (member.client_id, key, held.last_pull_ms)
            lasted = evidence.since.lasted_ms(PULLED_LAST, subject) or 0
            if key in rows and lasted >= NOT_PULLED_MS:
                still[key] = (member.client_id, lasted)
    if not still:
        return evidence.needs_everybody()
    members = sorted({client for client, _lasted in still.values()})
    waiting = sum(table.lag[rows[key]] or 0 for key in still)
    return Finding(
        KEY,
        "crit",
        values={"queues": len(still), "member": members[0], "lag": waiting},
        evidence=(
            ("held_by", members),
            ("queues", len(still)),
            ("waiting_messages", waiting),
            ("not_pulled_ms", max(lasted for _client, lasted in still.values())),
        ),
        queues=tuple(sorted(still)),
        members=tuple(members),
    )


SAYS: Final = {
    "state": _("Stopped"),
    "title": _("A member stopped pulling"),
    "text": _(
        "{member} has not asked for messages of {queues} of its queues for over a "
        "minute, while {lag} wait there."
    ),
    "advice": _(
        "Take a stack dump of the member: its pull service hangs or has ended. "
        "Restarting it gives the queues to the others."
    ),
}

RULE: Final = Rule(
    KEY,
    check,
    SAYS,
    told=True,
    yields_to=(
        "shared_client_id",
        "different_topics",
        "mixed_strategies",
        "lock_lost",
        "stuck_commit",
    ),
    adds_up=("queues", "lag", "waiting_messages", "held_by"),
)
