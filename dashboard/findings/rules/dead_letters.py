"""Messages were given up: they came to the dead-letter topic within the last hour.

After the last retry a message is put there, and nobody consumes it. Letters from long
ago are history, not a finding.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.memory.growth import WINDOW_MS
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _
from rmqcore.model.topic import dead_letter_topic

KEY: Final = "dead_letters"


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Look for growth of the dead-letter topic."""
    letters = evidence.dead_letters
    if not letters.grown or letters.total is None or letters.last_ms is None:
        return evidence.needs_brokers()
    topic = dead_letter_topic(evidence.group.name)
    return Finding(
        KEY,
        "warn",
        values={"messages": letters.grown, "topic": topic, "window_ms": WINDOW_MS},
        evidence=(
            ("dead_letters", letters.grown),
            ("dead_letters_ever", letters.total),
            ("last_dead_letter_at", letters.last_ms),
            ("topic", topic),
        ),
    )


SAYS: Final = {
    "state": _("Dead letters"),
    "title": _("New dead letters"),
    "text": _(
        "Messages given up within the last hour, after all their retries: {messages}. "
        "They are in {topic}, where nobody consumes them."
    ),
    "advice": _(
        "Read some of them, and the listener's log of the same time. "
        "Once the cause is fixed, send them again."
    ),
}

RULE: Final = Rule(
    KEY, check, SAYS, adds_up=("messages", "dead_letters", "dead_letters_ever")
)
