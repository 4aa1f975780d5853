"""Tells when a sweep is so late that readers should know.

A busy machine makes every sweep a little late, and all data is shown with its age
anyway. Lateness is reported once it is more than that: sweeps are left out, or begin
half a period after their time, or nothing has run for seconds.
"""

from __future__ import annotations

from typing import Final

from dashboard.live.documents import Lateness

LATE_MS: Final = 5_000
HELD_MS: Final = 2_000


def lateness(late_ms: int, skipped: int, held_ms: int) -> Lateness | None:
    """Return the lateness to report of a sweep of all groups; None if on time."""
    if late_ms < LATE_MS and held_ms < HELD_MS and not skipped:
        return None
    return {"late_ms": late_ms, "skipped": skipped, "held_ms": held_ms}


def with_skipped(late: Lateness | None, skipped: int) -> Lateness | None:
    """Add sweeps that were left out because the previous one was still running."""
    if not skipped:
        return late
    known: Lateness = late or {"late_ms": 0, "skipped": 0, "held_ms": 0}
    return {**known, "skipped": known["skipped"] + skipped}
