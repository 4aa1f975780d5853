"""A finding as it stands in a group's document: keys and values, bounded lists."""

from __future__ import annotations

from typing import Final

from dashboard.live.documents import FindingState

from .finding import Finding

LISTED: Final = 50
"""More queues or members than this are counted, not listed."""


def finding_document(finding: Finding, since_ms: int | None) -> FindingState:
    """Return a finding as plain values, with since when it has held.

    Members are client ids: one that several processes use is named once.
    """
    members = list(dict.fromkeys(finding.members))
    return {
        "key": finding.key,
        "level": finding.level,
        "since": since_ms,
        "text": finding.text,
        "advice": finding.advice,
        "values": dict(finding.values),
        "evidence": [(name, value) for name, value in finding.evidence],
        "queues": [
            f"{topic}|{broker}|{queue_id}"
            for topic, broker, queue_id in finding.queues[:LISTED]
        ],
        "queue_count": len(finding.queues),
        "members": members[:LISTED],
        "member_count": len(members),
    }
