"""What the worker that plays a lab writes to its row; nobody else does meanwhile.

1. `claim`: queued → running by a conditional update; whoever loses the race does
   nothing.
2. `save`: steps so far and the time it was last seen. The answer says whether the run
   still is this worker's, and whether somebody asked for its end.
3. `finish`: done with what was seen, failed with a sentence, or cancelled.

A run whose worker was killed is given up by whoever notices, and what it left on the
cluster is deleted by the next worker that looks.
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
    """How a run stands towards its worker."""

    ours: bool
    cancel_asked: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run came out."""

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
    """Make a waiting run this worker's; None when another was first."""
    now = timezone.now()
    claimed = LabRun.objects.filter(
        pk=pk, state=LabRun.State.QUEUED, cancel_asked=False
    ).update(state=LabRun.State.RUNNING, worker=worker, started_at=now, seen_at=now)
    if not claimed:
        return None
    return LabRun.objects.select_related("cluster").get(pk=pk)


def save(pk: int, worker: str, steps: Sequence[StepDocument]) -> Standing:
    """Write the steps so far, and say that the worker lives."""
    ours = LabRun.objects.filter(
        pk=pk, state=LabRun.State.RUNNING, worker=worker
    ).update(steps=list(steps), seen_at=timezone.now())
    asked = LabRun.objects.filter(pk=pk, cancel_asked=True).exists()
    return Standing(bool(ours), asked)


def finish(pk: int, worker: str, ending: Ending) -> bool:
    """Write how a run came out; False when it was given up as lost meanwhile."""
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
    """Fail the runs whose worker has gone without a word; return how many.

    Every worker asks every few seconds, and there is next to never one: it is looked
    for first, which waits for no other writer. The update asks again, so that a run is
    given up once, and not at all when it was heard of meanwhile.
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
    """Note that nothing of a run is left on the cluster."""
    LabRun.objects.filter(pk=pk).update(left_over=False)
