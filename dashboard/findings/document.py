"""A finding as it appears in a group's document: keys and values, bounded lists."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from dashboard.live.documents import FindingState, RulesState

from .evidence import Unchecked
from .finding import Finding
from .judge import Asked, Failure

LISTED: Final = 50
"""More queues or members than this are counted, not listed."""


def finding_document(
    finding: Finding, since_ms: int | None, cause: str | None = None
) -> FindingState:
    """Return a finding as plain values, with the time since which it has held.

    `cause` is the key of the finding that it follows from.

    Members are client ids: an id that several processes use is named once.
    """
    members = list(dict.fromkeys(finding.members))
    document: FindingState = {
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
    if finding.at_least:
        document["at_least"] = list(finding.at_least)
    if cause is not None:
        document["cause"] = cause
    if finding.as_of_ms is not None:
        document["as_of"] = finding.as_of_ms
    return document


def rules_document(asked: Asked) -> RulesState:
    """Return how the rules fared as plain values, which are not to be changed.

    Groups whose rules fared alike share them.
    """
    unchecked, failed = tuple(asked.unchecked.items()), tuple(asked.failed.items())
    return _rules_document(asked.checked, unchecked, failed)


@lru_cache(maxsize=1024)
def _rules_document(
    checked: int,
    unchecked: tuple[tuple[str, Unchecked], ...],
    failed: tuple[tuple[str, Failure], ...],
) -> RulesState:
    return {
        "checked": checked,
        "unchecked": [
            {"key": key, "why": each.why, "names": list(each.names)}
            for key, each in unchecked
        ],
        "failed": [{"key": key, "error": each.error} for key, each in failed],
    }
