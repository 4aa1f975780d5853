"""A clock that cannot be set, which reveals jumps of the clock that can be."""

from __future__ import annotations

import time
from typing import Final

from .claims import CLAIM_SECONDS

STEP_SECONDS: Final = 1.0
"""It is a jump if the clocks drift apart by more than this between two readings."""

# Time during which the machine sleeps counts: others go on meanwhile.
_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def steady_seconds() -> float:
    """Return seconds since an arbitrary point; they go on while the machine sleeps."""
    return time.clock_gettime(_CLOCK)


class Jumps:
    """Notices jumps of the wall clock; `lately` is to be asked every second or so.

    `ahead` is how many seconds the wall clock is ahead of the steady one.
    """

    def __init__(self, ahead: float) -> None:
        self._ahead = ahead
        self._over_at = float("-inf")

    def lately(self, ahead: float, steady: float) -> bool:
        """Tell whether it jumped within the life of a claim; `steady` is the time."""
        if abs(ahead - self._ahead) > STEP_SECONDS:
            self._over_at = steady + CLAIM_SECONDS
        self._ahead = ahead
        return steady < self._over_at
