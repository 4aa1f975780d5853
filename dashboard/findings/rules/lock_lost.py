"""An orderly member holds a queue without its lock, and so does not consume it (C8).

A member trusts a lock for 30 s and renews it every 20 s. A renewal that is lost or
refused leaves the queue unlocked until the next; if it lasts longer, the broker gave
the lock to another member, or was restarted and cannot be reached.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.memory.kinds import UNLOCKED
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _

KEY: Final = "lock_lost"
SEEN_FOR_MS: Final = 10_000


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Look for queues that members have long reported as held but not locked."""
    if not evidence.owned:
        return None
    unlocked = [
        (member.client_id, key)
        for member in evidence.group.members
        for key in member.held
        if member.orderly
        and key not in explained
        and (evidence.since.lasted_ms(UNLOCKED, (member.client_id, key)) or 0)
        >= SEEN_FOR_MS
    ]
    if not unlocked:
        return evidence.needs_everybody()
    longest = max(evidence.since.lasted_ms(UNLOCKED, each) or 0 for each in unlocked)
    members = tuple(sorted({client for client, _key in unlocked}))
    queues = tuple(sorted({key for _client, key in unlocked}))
    return Finding(
        KEY,
        "crit",
        values={"queues": len(queues), "member": members[0], "members": len(members)},
        evidence=(
            ("queues", len(queues)),
            ("held_by", list(members)),
            ("unlocked_ms", longest),
        ),
        queues=queues,
        members=members,
    )


SAYS: Final = {
    "state": _("Lock lost"),
    "title": _("Queues are held without their locks"),
    "text": _(
        "{member} holds {queues} of its queues without the broker's lock, and does not "
        "consume them until it has the locks again."
    ),
    "advice": _(
        "Check whether the broker was restarted, or whether another "
        "member holds the lock. Members renew their locks every 20 s; if "
        "this persists, restart the member."
    ),
}

RULE: Final = Rule(
    KEY,
    check,
    SAYS,
    told=True,
    yields_to=("shared_client_id", "mixed_strategies"),
    adds_up=("queues", "members", "held_by"),
)
