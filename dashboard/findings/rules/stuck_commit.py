"""One unfinished message holds back the commit of its queue (C5, C6).

The commit is the smallest unfinished offset. While one message hangs, later ones are
consumed and nothing is committed; after a restart all of them are delivered again. When
the span passes the member's limit, it stops pulling the queue.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.memory.kinds import OLDEST_IN_HAND
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _
from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import HeldQueue

KEY: Final = "stuck_commit"
HELD_FOR_MS: Final = 60_000
DONE_FLOOR: Final = 100
"""Fewer messages finished beyond the oldest are normal in any parallel work."""


@dataclass(frozen=True, slots=True)
class _Stuck:
    client_id: str
    key: QueueKey
    offset: int
    done: int
    held_ms: int
    pulled_known: bool


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Look for an oldest message in hand that stays while later ones are finished."""
    if not evidence.owned or evidence.orderly:
        return None
    stuck = sorted(_stuck(evidence), key=lambda each: -each.done)
    if not stuck:
        return evidence.needs_everybody()
    worst = stuck[0]
    return Finding(
        KEY,
        "warn",
        values={
            "offset": worst.offset,
            "done": worst.done,
            "member": worst.client_id,
            "held_ms": worst.held_ms,
            "queues": len(stuck),
        },
        evidence=(
            ("member", worst.client_id),
            ("blocking_offset", worst.offset),
            ("done_beyond", worst.done),
            ("in_hand_ms", worst.held_ms),
            *((("queues", len(stuck)),) if len(stuck) > 1 else ()),
        ),
        queues=tuple(each.key for each in stuck),
        members=tuple(sorted({each.client_id for each in stuck})),
        at_least=() if worst.pulled_known else ("done", "done_beyond"),
    )


def _stuck(evidence: Evidence) -> Iterator[_Stuck]:
    rows = {key: row for row, key in enumerate(evidence.group.queues.keys)}
    for member in evidence.group.members:
        for key, held in member.held.items():
            row = rows.get(key)
            if held.first is None or row is None:
                continue
            subject = (member.client_id, key, held.first)
            held_ms = evidence.since.lasted_ms(OLDEST_IN_HAND, subject) or 0
            pulled = evidence.group.queues.pulled[row]
            done = _done_beyond(held, held.first, pulled)
            if held_ms >= HELD_FOR_MS and done >= DONE_FLOOR:
                known = pulled is not None
                yield _Stuck(member.client_id, key, held.first, done, held_ms, known)


def _done_beyond(held: HeldQueue, first: int, pulled: int | None) -> int:
    """Return how many messages after the oldest in hand are finished.

    All offsets handed out from there on are either in hand or finished.
    """
    seen = (held.last or first) + 1
    return max(seen, pulled or 0) - first - held.cached


SAYS: Final = {
    "state": _("Commit stuck"),
    "title": _("One message holds back the commit"),
    "text": _(
        "{member} has been working on the message at offset {offset} for "
        "{held_ms}; {done} later messages are finished, but none of them "
        "can be committed. After a restart all of them are delivered "
        "again."
    ),
    "advice": _(
        "Look for that message in the member's log and stack dump. After "
        "15 min it is sent back for a retry. When the span exceeds 2,000 "
        "offsets, the member stops pulling from the queue."
    ),
}

RULE: Final = Rule(KEY, check, SAYS, told=True, adds_up=("queues",))
