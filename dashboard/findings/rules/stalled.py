"""A queue has an owner that is there, messages wait, and nothing is committed.

The listener hangs or works on one message for minutes, all threads are busy elsewhere,
or what was consumed cannot be committed.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.memory.trail import Trail
from dashboard.findings.rule import Queues, Rule

from .progress import LAG_FLOOR, WINDOW_MS, lagging, lags, window_of

KEY: Final = "stalled"
CAUSES: Final = (
    "shared_client_id",
    "different_topics",
    "mixed_strategies",
    "lock_expired",
    "lock_lost",
    "unowned_queues",
    "stuck_commit",
    "stopped",
)


def check(evidence: Evidence, explained: Queues) -> Finding | None:
    """Look for queues with lag whose commit did not move over the window."""
    if not (evidence.commits_tell and evidence.group.members and lags(evidence)):
        return None
    trail = window_of(evidence)
    if trail is None:
        return None
    rows = [
        row
        for row in lagging(evidence, explained, trail)
        if evidence.rows[row].wrong is None and _stands_still(trail, row)
    ]
    if not rows:
        return None
    table = evidence.group.queues
    owners = sorted({owner for row in rows for owner in evidence.rows[row].owners})
    waiting = sum(table.lag[row] or 0 for row in rows)
    return Finding(
        KEY,
        "crit",
        values={"queues": len(rows), "lag": waiting, "window_ms": WINDOW_MS},
        evidence=(
            ("queues", len(rows)),
            ("waiting_messages", waiting),
            *((("held_by", owners),) if owners else ()),
            ("watched_ms", WINDOW_MS),
        ),
        queues=evidence.keys_of(rows),
        members=tuple(owners),
    )


def _stands_still(trail: Trail, row: int) -> bool:
    commits = trail.committed(row)
    return commits.count(commits[-1]) == len(commits) and all(
        point.lag >= LAG_FLOOR for point in trail.course(row)
    )


RULE: Final = Rule(KEY, check, yields_to=CAUSES)
