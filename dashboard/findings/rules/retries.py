"""Many messages come back to the retry topic: the listener fails on them.

A failed message is consumed again after 10 s, 30 s, 1 min and so on, up to sixteen
times. Retries are meant for a few messages.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import NEEDS_TIME, Evidence, unheard_rows
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Answer, Queues, Rule
from dashboard.wording.marking import _
from rmqcore.model.snapshot import GroupKind

KEY: Final = "retries"
WINDOW_MS: Final = 60_000
FLOOR: Final = 20
SHARE: Final = 0.01
"""Below one message in a hundred, failures are few beside what is consumed."""


def check(evidence: Evidence, explained: Queues) -> Answer:
    """Check how many messages were sent back over the window, and if some still are."""
    if evidence.group.kind is GroupKind.BROADCASTING:
        return None
    moments = evidence.trail.moments
    now = moments[-1].sent_back if moments else None
    if now is None:
        return evidence.needs_brokers()
    if not now or now == moments[0].sent_back:
        return None
    trail = evidence.trail.last(WINDOW_MS)
    if trail is None:
        return NEEDS_TIME
    counts = [moment.sent_back for moment in trail.moments]
    middle, first = counts[len(counts) // 2], counts[0]
    if first is None or middle is None:
        return NEEDS_TIME
    back = now - first
    if back < FLOOR or now <= middle:
        return None
    if evidence.unheard or unheard_rows(trail.moments[0].queues):
        # It is not known how much was consumed, so neither is whether these are many.
        return evidence.needs_offsets(()) or NEEDS_TIME
    consumed = sum(
        (trail.rate("committed", row) or 0.0) * trail.span_ms / 1000
        for row in range(len(evidence.group.queues))
    )
    if back < consumed * SHARE:
        return None
    rate = round(back * 1000 / trail.span_ms, 1)
    retry = evidence.group.retry
    waiting = retry.lag
    return Finding(
        KEY,
        "warn",
        values={"messages": back, "window_ms": trail.span_ms},
        evidence=(
            ("sent_back", back),
            ("sent_back_rate", rate),
            *((("retry_lag", waiting.total()),) if waiting.known_rows else ()),
            ("watched_ms", trail.span_ms),
        ),
        at_least=("retry_lag",) if waiting.known_rows and retry.lag_partial else (),
    )


SAYS: Final = {
    "state": _("Retries"),
    "title": _("Many messages are retried"),
    "text": _(
        "The listener failed on {messages} messages within {window_ms}. "
        "Each is delivered again, after a delay that grows each time."
    ),
    "advice": _(
        "Look in the members' logs for the reason, often a service that "
        "the listener calls. A message that fails sixteen times becomes "
        "a dead letter."
    ),
}

RULE: Final = Rule(KEY, check, SAYS)
