"""Orderly queues wait for the lock of a member that no longer holds them (C7, C8).

A member that shuts down cleanly releases its locks. One that dies leaves them to expire
60 s after their last renewal; until then no member is given the queue, and members ask
for it again every 20 s. A wait longer than both together has another cause and is
reported as a queue without an owner.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _

KEY: Final = "lock_expired"
EXPIRY_MS: Final = 60_000
ASKED_AGAIN_MS: Final = 20_000


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Look for orderly queues that lost their owner a short time ago."""
    if not evidence.owned:
        return None
    if not evidence.orderly:
        return evidence.needs_everybody()
    keys = evidence.group.queues.keys
    waiting = {
        row: since
        for row in evidence.rows_that("unowned")
        if keys[row] not in explained
        and keys[row] in evidence.last_owners
        and (since := evidence.rows[row].since_ms) is not None
        and evidence.at_ms - since < EXPIRY_MS + ASKED_AGAIN_MS
    }
    if not waiting:
        return evidence.needs_everybody()
    began = min(waiting.values())
    present = {member.client_id for member in evidence.group.members}
    holders = sorted({evidence.last_owners[keys[row]] for row in waiting})
    expecting = {evidence.rows[row].expected for row in waiting} - {None}
    gone = [holder for holder in holders if holder not in present]
    return Finding(
        KEY,
        "warn",
        text="gone" if gone else "kept",
        values={
            "queues": len(waiting),
            "holder": (gone or holders)[0],
            "expires_at": began + EXPIRY_MS,
        },
        evidence=(
            ("queues", len(waiting)),
            ("last_owner", holders),
            ("waiting_ms", evidence.at_ms - began),
            ("free_by_at", began + EXPIRY_MS),
            *((("expected_owner", sorted(map(str, expecting))),) if expecting else ()),
        ),
        queues=evidence.keys_of(list(waiting)),
        members=tuple(sorted(str(client) for client in expecting)),
    )


SAYS: Final = {
    "state": _("Waits for locks"),
    "title": _("Queues wait for a lock to expire"),
    "gone": _(
        "{holder} is gone and did not release its locks. The broker gives {queues} of "
        "its queues to nobody until the locks expire, 60 s after their last renewal."
    ),
    "kept": _(
        "{holder} gave {queues} of its queues up, but the locks were not released. The "
        "broker gives them to nobody until they expire, 60 s after their last renewal."
    ),
    "advice": _(
        "There is nothing to do: the queues move when the locks expire "
        "and the next member asks again, within 80 s. Members that are "
        "stopped rather than killed release their locks at once."
    ),
}

RULE: Final = Rule(
    KEY,
    check,
    SAYS,
    told=True,
    yields_to=("shared_client_id", "different_topics", "mixed_strategies"),
    adds_up=("queues", "last_owner", "expected_owner"),
)
