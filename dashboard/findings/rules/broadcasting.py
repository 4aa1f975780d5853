"""A broadcasting group: the lag that brokers report is not one (behaviour A2, A3).

Its members keep their progress in files of their own. A broker reports offset 0
forever, which other tools show as a lag of every message there is. That is not a fault,
but a trap.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _
from rmqcore.model.snapshot import GroupKind

KEY: Final = "broadcasting"


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Report it when there are messages, so that the numbers would be mistaken."""
    table = evidence.group.queues
    seeming = table.max.total()
    if evidence.group.kind is not GroupKind.BROADCASTING:
        return None
    if not seeming:
        return evidence.needs_offsets(explained)
    said = table.committed
    return Finding(
        KEY,
        "info",
        values={"messages": seeming},
        evidence=(
            *((("offsets_at_broker", said.total()),) if said.known_rows else ()),
            ("messages_ever", seeming),
            ("members", len({m.client_id for m in evidence.group.members})),
        ),
    )


SAYS: Final = {
    "state": _("Broadcasting"),
    "title": _("Broadcasting: this is not lag"),
    "text": _(
        "Every member consumes every message and keeps its progress in "
        "its own file. The broker always reports offset 0, which tools "
        "show as a lag of {messages}."
    ),
    "advice": _("There is nothing to do. Only the member itself knows how far it is."),
}

RULE: Final = Rule(
    KEY,
    check,
    SAYS,
    adds_up=("messages", "messages_ever", "offsets_at_broker", "members"),
)
