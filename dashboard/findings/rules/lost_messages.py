"""The commit is below the oldest message the broker still holds: messages are lost.

The broker removed messages, because of their age or a full disk, before the group
reached them. They can no longer be consumed.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _
from rmqcore.model.snapshot import GroupKind

KEY: Final = "lost_messages"
ELSEWHERE: Final = (
    GroupKind.BROADCASTING,
    GroupKind.MIXED,
    GroupKind.ASSIGNED_BY_HAND,
)
"""Members of these may keep their progress elsewhere than on the broker."""


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Compare each commit with the queue's minimum."""
    table = evidence.group.queues
    if evidence.group.kind in ELSEWHERE:
        return None
    lost = {
        row: low - done
        for row, (low, done) in enumerate(zip(table.min, table.committed, strict=True))
        if low is not None and done is not None and done < low
        if table.keys[row] not in explained
    }
    if not lost:
        return evidence.needs_offsets(explained)
    # A group that nobody runs any more keeps losing messages: no news, no alarm.
    abandoned = evidence.group.kind is GroupKind.OFFLINE and evidence.online_ms is None
    messages = sum(lost.values())
    return Finding(
        KEY,
        "info" if abandoned else "crit",
        text="abandoned" if abandoned else "text",
        advice="abandoned_advice" if abandoned else "advice",
        values={"messages": messages, "queues": len(lost)},
        evidence=(
            ("queues", len(lost)),
            ("lost_messages", messages),
            ("most_in_one_queue", max(lost.values())),
        ),
        queues=evidence.keys_of(list(lost)),
    )


SAYS: Final = {
    "state": _("Lost messages"),
    "title": _("Messages were removed before they were consumed"),
    "text": _(
        "In {queues} of the queues the committed offset is below the "
        "oldest message that the broker holds. Messages that can no "
        "longer be consumed: {messages}."
    ),
    "abandoned": _(
        "The group has no members, and its committed offsets are below "
        "the oldest messages that the brokers hold. Messages that are "
        "gone: {messages}."
    ),
    "advice": _(
        "Consume faster, or keep messages longer (the broker's "
        "fileReservedTime and disk). Messages that are lost can only be "
        "sent again."
    ),
    "abandoned_advice": _(
        "If the group is no longer needed, delete it. Otherwise it will "
        "start at the oldest message there is."
    ),
}

RULE: Final = Rule(
    KEY,
    check,
    SAYS,
    adds_up=("queues", "messages", "lost_messages", "most_in_one_queue"),
)
