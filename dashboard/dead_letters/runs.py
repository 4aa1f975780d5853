"""Writes to a run's rows by the worker that resends; nobody else writes meanwhile.

1. `claim`: queued → running by a conditional update; a worker that loses the race does
   nothing.
2. `take_batch`: marks the next letters as being sent, before any of them is. They are
   never taken again in this run, whatever becomes of the worker.
3. `note`: what became of the letters of the batch.
4. `finish`: done, stopped, or failed with a sentence.

A worker that stops gracefully hands a run back (`hand_back`) for another one to
continue. A run whose worker was killed has ended: whoever notices says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.gateway.resending import Resent
from dashboard.models import ResendRun, ResentLetter
from dashboard.models.resend import RESEND_LOST_AFTER

LONGEST_ERROR: Final = 1000

State = ResentLetter.State


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one letter: sent, failed with an error, gone, or not tried.

    One that is still being sent, with an error, may have been stored or not.
    """

    letter: ResentLetter
    state: ResentLetter.State
    resent: Resent | None = None
    error: str = ""


def waiting_runs() -> list[int]:
    """Return the keys of the runs that wait for a worker, the oldest first."""
    rows = ResendRun.objects.filter(state=ResendRun.State.QUEUED, stop_asked=False)
    return list(rows.order_by("at", "pk").values_list("pk", flat=True))


def claim(pk: int, worker: str) -> ResendRun | None:
    """Claim a waiting run for a worker; return None if another was first."""
    now = timezone.now()
    rows = ResendRun.objects.filter(pk=pk, state=ResendRun.State.QUEUED)
    claimed = rows.filter(stop_asked=False).update(
        state=ResendRun.State.RUNNING, worker=worker, started_at=now, seen_at=now
    )
    if not claimed:
        return None
    return ResendRun.objects.select_related("cluster").get(pk=pk)


@transaction.atomic
def take_batch(run: ResendRun, most: int) -> Sequence[ResentLetter] | None:
    """Mark the next letters as being sent, and record that the worker is alive.

    Return None if the run is no longer this worker's, or is to stop.
    """
    rows = ResendRun.objects.filter(
        pk=run.pk, state=ResendRun.State.RUNNING, worker=run.worker, stop_asked=False
    )
    if not rows.update(seen_at=timezone.now()):
        return None
    batch = list(run.letters.filter(state=State.WAITING).order_by("number")[:most])
    run.letters.filter(pk__in=[each.pk for each in batch]).update(state=State.SENDING)
    return batch


@transaction.atomic
def note(outcomes: Iterable[Outcome]) -> None:
    """Write what became of letters."""
    for outcome in outcomes:
        letter, resent = outcome.letter, outcome.resent
        letter.state = outcome.state
        letter.error = outcome.error[:LONGEST_ERROR]
        if resent is not None:
            letter.sent_at = timezone.now()
            letter.sent_topic, letter.sent_broker = resent.topic, resent.broker
            letter.sent_queue_id, letter.sent_offset = resent.queue_id, resent.offset
            letter.sent_key = resent.unique_key
        letter.save()


def finish(run: ResendRun, state: ResendRun.State, error: str = "") -> bool:
    """Write how a run ended; False if it has been given up as lost meanwhile."""
    now = timezone.now()
    written = _own(run).update(
        state=state, error=error[:LONGEST_ERROR], seen_at=now, finished_at=now
    )
    return bool(written)


def hand_back(run: ResendRun) -> None:
    """Let another worker continue with the letters that wait, unless it is to stop."""
    _own(run).filter(stop_asked=False).update(state=ResendRun.State.QUEUED, worker="")
    finish(run, ResendRun.State.STOPPED)


def stop_asked(run: ResendRun) -> bool:
    """Tell whether somebody has asked for the end of a run."""
    return ResendRun.objects.filter(pk=run.pk, stop_asked=True).exists()


def give_up_lost() -> int:
    """End the runs whose worker has vanished; return how many.

    A query looks for one first, which waits for no other writer. The update checks
    again, so that a run that has been seen meanwhile is not given up.
    """
    now = timezone.now()
    lost = ResendRun.objects.filter(
        state=ResendRun.State.RUNNING, seen_at__lt=now - RESEND_LOST_AFTER
    )
    if not lost.exists():
        return 0
    return lost.update(
        state=ResendRun.State.FAILED,
        error="the worker that resent these has gone",
        finished_at=now,
    )


def _own(run: ResendRun) -> QuerySet[ResendRun]:
    return ResendRun.objects.filter(
        pk=run.pk, state=ResendRun.State.RUNNING, worker=run.worker
    )
