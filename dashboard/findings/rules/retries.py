"""Messages come back to the retry topic in numbers: the listener fails on many.

A failed message is consumed again after 10 s, 30 s, 1 min and so on, up to sixteen
times. A few are what retries are for.
"""

from __future__ import annotations

from typing import Final

from dashboard.findings.evidence import Evidence
from dashboard.findings.finding import Finding
from dashboard.findings.rule import Queues, Rule
from rmqcore.model.snapshot import GroupKind

KEY: Final = "retries"
WINDOW_MS: Final = 60_000
FLOOR: Final = 20
SHARE: Final = 0.01
"""Below one message in a hundred, failures are few beside what is consumed."""


def check(evidence: Evidence, explained: Queues) -> Finding | None:
    """Look how many messages were sent back over the window, and still are."""
    if evidence.group.kind is GroupKind.BROADCASTING:
        return None
    moments = evidence.trail.moments
    now = moments[-1].sent_back if moments else None
    if not now or now == moments[0].sent_back:
        return None
    trail = evidence.trail.last(WINDOW_MS)
    if trail is None:
        return None
    counts = [moment.sent_back for moment in trail.moments]
    middle, first = counts[len(counts) // 2], counts[0]
    if first is None or middle is None or now - first < FLOOR or now <= middle:
        return None
    consumed = sum(
        (trail.rate("committed", row) or 0.0) * trail.span_ms / 1000
        for row in range(len(evidence.group.queues))
    )
    back = now - first
    if back < consumed * SHARE:
        return None
    rate = round(back * 1000 / trail.span_ms, 1)
    waiting = evidence.group.retry.lag
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
    )


RULE: Final = Rule(KEY, check)
