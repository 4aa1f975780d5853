"""A queue has a live owner, messages wait, and nothing is committed.

The listener hangs or works on one message for minutes, all threads are busy elsewhere,
or consumed messages cannot be committed. One queue may wait for a slow message, so it
is given two minutes; where no queue of the group commits anything, one and a half are
enough. Known causes show sooner than that, and are reported instead.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import NEEDS_TIME, Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.memory.trail import Trail
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _

from .progress import LAG_FLOOR, WINDOW_MS, lagging, lags, needs_past, window_of

KEY: Final = "stalled"
ALL_STILL_MS: Final = 90_000
"""How long the whole group commits nothing before this is reported. A message that
hangs, or a member that does not pull, takes a minute to be reported, and up to half a
minute more until members are asked."""
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
ADDS_UP: Final = ("queues", "lag", "waiting_messages", "held_by")


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Look for queues with lag whose commit did not move over the window."""
    if not (evidence.commits_tell and evidence.group.members):
        return None
    if not lags(evidence):
        return evidence.needs_offsets(explained)
    long, short = window_of(evidence), window_of(evidence, ALL_STILL_MS)
    if short is None:
        return NEEDS_TIME
    window_ms, trail = (WINDOW_MS, long) if long else (ALL_STILL_MS, short)
    rows = _still(evidence, explained, long) if long else []
    if not rows:
        window_ms, rows = ALL_STILL_MS, _all_still(evidence, explained, short)
    if not rows:
        return evidence.needs_offsets(explained) or needs_past(trail, evidence)
    owners = sorted({owner for row in rows for owner in evidence.rows[row].owners})
    waiting = evidence.lag_of(rows).known or 0
    return Finding(
        KEY,
        "crit",
        values={"queues": len(rows), "lag": waiting, "window_ms": window_ms},
        evidence=(
            ("queues", len(rows)),
            ("waiting_messages", waiting),
            *((("held_by", owners),) if owners else ()),
            ("watched_ms", window_ms),
        ),
        queues=evidence.keys_of(rows),
        members=tuple(owners),
        at_least=ADDS_UP if needs_past(trail, evidence) else (),
    )


def _still(evidence: Evidence, explained: Queues, trail: Trail) -> list[int]:
    return [
        row
        for row in lagging(evidence, explained, trail)
        if evidence.rows[row].wrong is None and _stands_still(trail, row)
    ]


def _all_still(evidence: Evidence, explained: Queues, trail: Trail) -> list[int]:
    """Return the rows that stand still when no commit of the group moved."""
    if evidence.unheard or any(
        len(set(trail.committed(row))) > 1 for row in range(len(evidence.rows))
    ):
        return []
    return _still(evidence, explained, trail)


def _stands_still(trail: Trail, row: int) -> bool:
    commits = trail.committed(row)
    return commits.count(commits[-1]) == len(commits) and all(
        point.lag >= LAG_FLOOR for point in trail.course(row)
    )


SAYS: Final = {
    "state": _("Stalled"),
    "title": _("Consumption stalls"),
    "text": _(
        "In {queues} of the queues {lag} messages wait and nothing was committed for "
        "{window_ms}, although they have an owner."
    ),
    "advice": _(
        "Take a stack dump of the owners: a listener hangs, waits for "
        "another service, or works on one message for minutes. Also "
        "check whether the listener is suspended."
    ),
}

RULE: Final = Rule(KEY, check, SAYS, yields_to=CAUSES, adds_up=ADDS_UP)
