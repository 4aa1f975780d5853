"""Writes to a run's row by the worker that plays it; nobody else writes meanwhile.

1. `claim`: queued → running by a conditional update; a worker that loses the race does
   nothing.
2. `save`: the steps so far and the time of this save. The result says whether the run
   still belongs to this worker, and whether somebody has asked for its end.
3. `finish`: done with what was seen, failed with a sentence, or cancelled.

A run whose worker was killed is given up by whoever notices, and the next worker that
looks deletes what the run left on the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.utils import timezone

from dashboard.models import LabRun
from dashboard.models.lab import LAB_LOST_AFTER

LONGEST_ERROR: Final = 1000

StepDocument = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a run still belongs to its worker, and whether it is to end."""

    ours: bool
    cancel_asked: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """The outcome of a run."""

    state: LabRun.State
    claims: Sequence[Mapping[str, Any]] = ()
    finding: str = ""
    error: str = ""
    steps: Sequence[StepDocument] = field(default=())


def waiting_runs(clusters: Sequence[str]) -> list[int]:
    """Return the keys of the runs that wait for a worker, the oldest first."""
    rows = LabRun.objects.filter(
        cluster__name__in=clusters, state=LabRun.State.QUEUED, cancel_asked=False
    )
    return list(rows.order_by("asked_at", "pk").values_list("pk", flat=True))


def claim(pk: int, worker: str) -> LabRun | None:
    """Claim a waiting run for a worker; return None if another was first."""
    now = timezone.now()
    claimed = LabRun.objects.filter(
        pk=pk, state=LabRun.State.QUEUED, cancel_asked=False
    ).update(state=LabRun.State.RUNNING, worker=worker, started_at=now, seen_at=now)
    if not claimed:
        return None
    return LabRun.objects.select_related("cluster").get(pk=pk)


def save(pk: int, worker: str, steps: Sequence[StepDocument]) -> Standing:
    """Write the steps so far, and record that the worker is alive."""
    ours = LabRun.objects.filter(
        pk=pk, state=LabRun.State.RUNNING, worker=worker
    ).update(steps=list(steps), seen_at=timezone.now())
    asked = LabRun.objects.filter(pk=pk, cancel_asked=True).exists()
    return Standing(bool(ours), asked)


def finish(pk: int, worker: str, ending: Ending) -> bool:
    """Write the outcome of a run; False if it has been given up as lost meanwhile."""
    now = timezone.now()
    rows = LabRun.objects.filter(pk=pk, state=LabRun.State.RUNNING, worker=worker)
    written = rows.update(
        state=ending.state,
        steps=list(ending.steps),
        claims=list(ending.claims),
        finding=ending.finding,
        error=ending.error[:LONGEST_ERROR],
        seen_at=now,
        finished_at=now,
    )
    return bool(written)


def give_up_lost() -> int:
    """Fail the runs whose worker has vanished; return how many.

    Every worker calls this every few seconds, and there is hardly ever such a run: a
    query looks for one first, which waits for no other writer. The update checks again,
    so that a run is given up only once, and not at all if it has been saved meanwhile.
    """
    now = timezone.now()
    lost = LabRun.objects.filter(
        state=LabRun.State.RUNNING, seen_at__lt=now - LAB_LOST_AFTER
    )
    if not lost.exists():
        return 0
    return lost.update(
        state=LabRun.State.FAILED,
        error="the worker that played this has gone",
        finished_at=now,
        left_over=True,
    )


def left_over_runs(clusters: Sequence[str]) -> list[LabRun]:
    """Return the runs whose topics may still be on the cluster."""
    give_up_lost()
    rows = LabRun.objects.filter(cluster__name__in=clusters, left_over=True)
    return list(rows.select_related("cluster"))


def note_swept(pk: int) -> None:
    """Record that nothing of a run is left on the cluster."""
    LabRun.objects.filter(pk=pk).update(left_over=False)
