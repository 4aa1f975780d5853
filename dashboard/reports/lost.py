"""End the runs that nothing works on any more, so that none blocks its group for ever.

Ages are those of what this process has seen, by its monotonic clock: a run is lost when
it has not moved for so long while it was looked at. The wall clock has no part in it,
because after a jump of that clock every run would look abandoned, or none.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import datetime
from typing import Final, NamedTuple

from django.utils import timezone

from dashboard.models import JobRun
from dashboard.models.report import LOST_AFTER

logger = logging.getLogger(__name__)

UNCLAIMED_SECONDS: Final = 3600.0
"""A queued run is given up when no worker has done anything for this long."""

GONE: Final = "the analytics worker that ran this has gone"
UNCLAIMED: Final = (
    f"no analytics worker has taken this for {UNCLAIMED_SECONDS / 60:.0f} minutes"
)


class _Look(NamedTuple):
    state: str
    seen_at: datetime | None


class LostRuns:
    """What is known of the active runs; `give_up` is to be called every few seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._looks: dict[int, tuple[_Look, float]] = {}
        self._worked_at = now()

    def give_up(self) -> int:
        """Fail the runs that are lost; return their number.

        A running one is lost when its worker has not written to it for `LOST_AFTER`, a
        queued one when in `UNCLAIMED_SECONDS` no worker has worked on any run.
        """
        now = self._now()
        rows = JobRun.objects.filter(state__in=JobRun.ACTIVE)
        looks = {
            pk: _Look(state, seen_at)
            for pk, state, seen_at in rows.values_list("pk", "state", "seen_at")
        }
        before, self._looks = self._looks, {}
        for pk, look in looks.items():
            earlier = before.get(pk)
            if earlier is not None and earlier[0] == look:
                self._looks[pk] = earlier
                continue
            self._looks[pk] = (look, now)
            if look.state == JobRun.State.RUNNING:
                self._worked_at = now
        return sum(self._end(pk, now) for pk in looks)

    def _end(self, pk: int, now: float) -> int:
        look, since = self._looks[pk]
        if look.state == JobRun.State.RUNNING:
            is_lost, error = now - since > LOST_AFTER.total_seconds(), GONE
        else:
            since = max(since, self._worked_at)
            is_lost, error = now - since > UNCLAIMED_SECONDS, UNCLAIMED
        if not is_lost:
            return 0
        # It counts only if the run is still as it was seen.
        ended = JobRun.objects.filter(
            pk=pk, state=look.state, seen_at=look.seen_at
        ).update(state=JobRun.State.FAILED, error=error, finished_at=timezone.now())
        if ended:
            logger.warning("run=%s given up: %s", pk, error)
        return ended
