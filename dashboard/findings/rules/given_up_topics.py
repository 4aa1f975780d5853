"""Commits of a topic that members no longer read.

A broker keeps a group's commits of a topic after all members have given it up. Its
messages count as lag forever, and nothing is wrong with that topic's queues.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _
from rmqcore.model.snapshot import GroupKind

KEY: Final = "given_up_topics"
KINDS: Final = (GroupKind.OWNED, GroupKind.SHARED_POP)


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Compare the topics with commits to those that members say they read."""
    group = evidence.group
    if group.kind not in KINDS:
        return None
    if missing := evidence.needs_everybody():
        return missing
    unread = evidence.unread
    rows = [row for row, key in enumerate(group.queues.keys) if key in unread]
    lag = evidence.lag_of(rows)
    if not lag.known:
        return None
    topics = sorted({key[0] for key in unread})
    return Finding(
        KEY,
        "info",
        values={"topics": topics, "lag": lag.known},
        evidence=(("topics", topics), ("queues", len(rows)), ("lag", lag.known)),
        queues=evidence.keys_of(rows),
        at_least=lag.marks("lag"),
    )


SAYS: Final = {
    "state": _("Topics given up"),
    "title": _("Topics that no member subscribes to any more"),
    "text": _(
        "The group has committed offsets for {topics}, to which no "
        "member subscribes. Its lag includes their messages: {lag}."
    ),
    "advice": _(
        "If these topics are no longer needed, delete the group's "
        "offsets for them. If they are, check why no member subscribes "
        "to them."
    ),
}

RULE: Final = Rule(KEY, check, SAYS, told=True)
