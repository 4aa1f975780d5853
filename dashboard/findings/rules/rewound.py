"""The commit of a queue went back, and has not regained its old place.

Somebody reset the group's offsets, or a member that started from an old place overwrote
them. The messages between are consumed again. The finding lasts as long as the trail
remembers the step.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from dashboard.findings.evidence import NEEDS_TIME, Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.memory.trail import Point
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _

from .progress import LAG_FLOOR, lagging, lags, needs_past, window_of

KEY: Final = "rewound"
ADDS_UP: Final = ("queues", "messages", "repeated_messages")


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Look for commits that are below where they were within the trail."""
    if not evidence.commits_tell:
        return None
    if not lags(evidence):
        return evidence.needs_offsets(explained)
    trail = window_of(evidence, evidence.trail.span_ms)
    if trail is None:
        return NEEDS_TIME
    back = {
        row: step
        for row in lagging(evidence, explained, trail)
        if max(trail.committed(row)) > (evidence.group.queues.committed[row] or 0)
        and (step := _step_back(trail.course(row))) is not None
    }
    if not back:
        return evidence.needs_offsets(explained) or needs_past(trail, evidence)
    again = sum(before - now for before, now, _at in back.values())
    return Finding(
        KEY,
        "warn",
        values={"queues": len(back), "messages": again},
        evidence=(
            ("queues", len(back)),
            ("repeated_messages", again),
            ("went_back_at", max(at for _before, _now, at in back.values())),
        ),
        queues=evidence.keys_of(list(back)),
        at_least=ADDS_UP if needs_past(trail, evidence) else (),
    )


def _step_back(course: list[Point]) -> tuple[int, int, int] | None:
    """Return the commits before and after a step not regained since, and its time."""
    for before, after in pairwise(course):
        small = before.committed - after.committed < LAG_FLOOR
        if small or course[-1].committed >= before.committed:
            continue
        return before.committed, after.committed, after.at_ms
    return None


SAYS: Final = {
    "state": _("Went back"),
    "title": _("The commit went back"),
    "text": _(
        "In {queues} of the queues the committed offset went back, by "
        "{messages} messages in all, which are consumed again."
    ),
    "advice": _(
        "If the offsets were reset on purpose, there is nothing to do. "
        "If not, look for a member that started from an older offset or "
        "that seeks."
    ),
}

RULE: Final = Rule(KEY, check, SAYS, adds_up=ADDS_UP)
