"""Members that hold no queue (behaviour A1, B1).

With more members than queues the last ones have nothing to do. That does no harm, but
does not help either. Where there are enough queues, the strategy or its options leave a
member out.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.memory.kinds import IDLE
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _

KEY: Final = "idle_members"
SEEN_FOR_MS: Final = 5_000
"""A member that has just joined holds nothing yet."""


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Look for members that have reported no queue for a while."""
    if not evidence.owned:
        return None
    if missing := evidence.needs_brokers():
        return missing
    topics = Counter(
        key[0] for key in evidence.group.queues.keys if key not in explained
    )
    if not topics:
        return None
    idle = [
        member.client_id
        for member in evidence.told_members()
        if (evidence.since.lasted_ms(IDLE, member.client_id) or 0) >= SEEN_FOR_MS
        # It cannot be given topics it does not subscribe to: that is another finding.
        and {s.topic for s in member.subscriptions or ()} >= topics.keys()
    ]
    if not idle:
        return evidence.needs_everybody()
    members = len({member.client_id for member in evidence.group.members})
    most = max(topics.values())
    return Finding(
        KEY,
        "info",
        text="too_many" if members > most else "left_out",
        advice="too_many_advice" if members > most else "left_out_advice",
        values={"idle": len(idle), "members": members, "queues": most},
        evidence=(
            ("idle_members", idle),
            ("members", members),
            ("queues_of_largest_topic", most),
        ),
        members=tuple(idle),
    )


SAYS: Final = {
    "state": _("Idle members"),
    "title": _("Members without a queue"),
    "too_many": _(
        "Without a queue: {idle} of {members} members. A queue has one "
        "owner. Queues of the largest topic: {queues}. Members without a "
        "queue stand by."
    ),
    "left_out": _(
        "Without a queue: {idle} of {members} members, although the largest topic has "
        "{queues} queues. The strategy leaves them out."
    ),
    "too_many_advice": _(
        "This is fine as a reserve. To share the work among more "
        "members, give the topic more queues."
    ),
    "left_out_advice": _(
        "Check the strategy's list or rooms (CONFIG, machine rooms), or "
        "choose a strategy that divides evenly. What-if shows each."
    ),
}

RULE: Final = Rule(KEY, check, SAYS, told=True, adds_up=("idle", "idle_members"))
