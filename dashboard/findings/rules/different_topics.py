"""Members of one group subscribe to different topics (behaviour E6).

Each heartbeat removes the topics that it does not list from the broker's table, so the
table flips, members are notified and rebalance, and pulls fail in between. Besides,
each topic is divided among all members: the part of a member that does not read it has
no reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _
from rmqcore.model.snapshot import GroupKind

KEY: Final = "different_topics"


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Compare the topics that members report subscribing to."""
    topics = {
        member.client_id: frozenset(s.topic for s in member.subscriptions)
        for member in evidence.told_members()
        # A member without subscriptions was given its queues by hand.
        if member.subscriptions
    }
    if len(set(topics.values())) < 2:
        return evidence.needs_everybody()
    everything: frozenset[str] = frozenset().union(*topics.values())
    shared = everything.intersection(*topics.values())
    partly = sorted(everything - shared)
    keys = evidence.group.queues.keys
    unread = [row for row in evidence.rows_that("unowned") if keys[row][0] in partly]
    broadcasting = evidence.group.kind in (GroupKind.BROADCASTING, GroupKind.MIXED)
    return Finding(
        KEY,
        "warn" if broadcasting else "crit",
        text="broadcasting" if broadcasting else "text",
        values={"topics": partly, "unread": len(unread), "members": len(topics)},
        evidence=tuple(
            ("members_reading", f"{topic}: {_readers(topic, topics)} / {len(topics)}")
            for topic in partly
        ),
        queues=evidence.keys_of(unread),
        members=tuple(sorted(c for c, own in topics.items() if own != everything)),
    )


def _readers(topic: str, topics: Mapping[str, frozenset[str]]) -> int:
    return sum(topic in own for own in topics.values())


SAYS: Final = {
    "state": _("Topics differ"),
    "title": _("Members subscribe to different topics"),
    "text": _(
        "Not all of the {members} members read {topics}. A topic's "
        "queues are divided among all members, so the share of a member "
        "that does not read it is read by nobody: now {unread} of the "
        "queues. Each heartbeat also removes the topics that it does not "
        "list, and pulls fail in between."
    ),
    "broadcasting": _(
        "Not all of the {members} members read {topics}. Each heartbeat removes the "
        "topics that it does not list from the broker's table, and pulls of the others "
        "fail in between."
    ),
    "advice": _(
        "Give each set of topics a group of its own, or let every member "
        "subscribe to all topics of the group."
    ),
}

RULE: Final = Rule(KEY, check, SAYS, told=True, adds_up=("unread",))
