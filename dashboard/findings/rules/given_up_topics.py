"""Commits of a topic that no member reads any more.

A broker keeps a group's commits of a topic when all members gave it up. Its messages
count as lag for ever, and nothing is wrong with that topic's queues.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Queues, Rule
from rmqcore.model.snapshot import GroupKind

KEY: Final = "given_up_topics"
KINDS: Final = (GroupKind.OWNED, GroupKind.SHARED_POP)


def check(evidence: Evidence, explained: Queues) -> Finding | None:
    """Compare the topics with commits to those that members say they read."""
    group = evidence.group
    told = all(member.subscriptions is not None for member in group.members)
    if group.kind not in KINDS or not told:
        return None
    unread = evidence.unread
    rows = [row for row, key in enumerate(group.queues.keys) if key in unread]
    lag = sum(group.queues.lag[row] or 0 for row in rows)
    if not lag:
        return None
    topics = sorted({key[0] for key in unread})
    return Finding(
        KEY,
        "info",
        values={"topics": topics, "lag": lag},
        evidence=(("topics", topics), ("queues", len(rows)), ("lag", lag)),
        queues=evidence.keys_of(rows),
    )


RULE: Final = Rule(KEY, check, told=True)
