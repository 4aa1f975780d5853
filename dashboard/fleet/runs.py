"""Runs of timers, gathered and written in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from dashboard import models
from dashboard.clock.ticks import Tick
from rmqcore.client import TimerRun

KEPT: Final = timedelta(hours=24)
MOST_ROWS: Final = 1_000_000
"""As many as thirty workers write in a day."""
_LONGEST_ERROR: Final = 1000


@dataclass(frozen=True, slots=True)
class SlotRun:
    """One slot that this worker ran, for all its members together."""

    tick: Tick
    started: float
    took_ms: float
    members: int
    errors: tuple[str, ...]
    skipped: bool = False

    @property
    def outcome(self) -> str:
        """The outcome: whether all, some or none of the members did their work."""
        if self.skipped:
            return models.TimerRun.Outcome.SKIPPED
        if not self.errors:
            return models.TimerRun.Outcome.DONE
        if len(self.errors) < self.members:
            return models.TimerRun.Outcome.PARTLY
        return models.TimerRun.Outcome.FAILED


def slot_run(
    tick: Tick, started: float, took_ms: float, runs: Sequence[TimerRun]
) -> SlotRun:
    """Combine the runs of the members into one."""
    errors = tuple(run.error for run in runs if run.error is not None)
    return SlotRun(tick, started, took_ms, len(runs), errors)


def skipped_run(tick: Tick, now: float) -> SlotRun:
    """Return the run of a slot that was skipped because the last one still ran."""
    return SlotRun(tick, now, 0.0, 0, (), skipped=True)


def save_runs(worker: str, runs: Sequence[SlotRun]) -> None:
    """Write runs; a slot that is already stored stays as it is."""
    models.TimerRun.objects.bulk_create(
        [
            models.TimerRun(
                worker=worker,
                timer=run.tick.timer,
                slot=run.tick.number,
                due=datetime.fromtimestamp(run.tick.due, UTC),
                started=datetime.fromtimestamp(run.started, UTC),
                took_ms=run.took_ms,
                outcome=run.outcome,
                asked_by=run.tick.asked_by,
                members=run.members,
                error="\n".join(sorted(set(run.errors)))[:_LONGEST_ERROR],
            )
            for run in runs
        ],
        ignore_conflicts=True,
    )


def remove_old_runs(now_ms: int | None) -> None:
    """Remove runs that are older than a day, and the oldest beyond `MOST_ROWS`.

    Without a time that can be trusted, no run counts as old.
    """
    if now_ms is not None:
        horizon = datetime.fromtimestamp(now_ms / 1000, UTC) - KEPT
        models.TimerRun.objects.filter(due__lt=horizon).delete()
    keys = models.TimerRun.objects.order_by("-pk").values_list("pk", flat=True)
    beyond = keys[MOST_ROWS : MOST_ROWS + 1]
    if beyond:
        models.TimerRun.objects.filter(pk__lte=beyond[0]).delete()
