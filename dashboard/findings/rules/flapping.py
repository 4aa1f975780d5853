"""Members come and go, or queues change hands, again and again.

Each change stops and starts consumption, and messages in hand are consumed twice. A new
release replaces every member once, which is not flapping: what counts is short stays,
members that leave within minutes of joining, and moves of queues while no member came
or went.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.memory.turnover import WINDOW_MS
from dashboard.findings.rule import Queues, Rule
from dashboard.wording.marking import _

KEY: Final = "flapping"
SHORT_STAYS: Final = 8
"""A process that crashes at start reaches this within half an hour, even when its
supervisor waits longer before each restart, up to five minutes."""
MOVES: Final = 4


def check(evidence: Evidence, explained: Queues) -> Finding | None:
    """Count short stays and handovers within the window."""
    stays = list(evidence.stays)
    moved = [key for key, times in evidence.moves.items() if times >= MOVES]
    if len(stays) < SHORT_STAYS and not moved:
        return None
    most = max(evidence.moves.values(), default=0)
    text = "members" if len(stays) >= SHORT_STAYS else "queues"
    return Finding(
        KEY,
        "warn",
        text=text,
        advice=f"{text}_advice",
        values={"stays": len(stays), "moves": most, "window_ms": WINDOW_MS},
        evidence=(
            ("short_stays", len(stays)),
            *((("last_to_leave", stays[-1]),) if stays else ()),
            *((("most_moves", most),) if most else ()),
            ("watched_ms", WINDOW_MS),
        ),
        queues=evidence.still_there(sorted(moved)),
    )


SAYS: Final = {
    "state": _("Flapping"),
    "title": _("The group does not come to rest"),
    "members": _(
        "Within {window_ms}, members joined and soon left again {stays} "
        "times. Each change moves queues, and the messages in hand are "
        "consumed twice."
    ),
    "queues": _(
        "Within {window_ms}, some queues changed owner up to {moves} "
        "times although no member joined or left. At each change the "
        "messages in hand are consumed twice."
    ),
    "members_advice": _(
        "Look for members that crash and restart, lose their network, or are scaled up "
        "and down."
    ),
    "queues_advice": _(
        "Check whether all members see the same list of members: they "
        "should be connected to all brokers and run the same release and "
        "strategy."
    ),
}

RULE: Final = Rule(KEY, check, SAYS)
