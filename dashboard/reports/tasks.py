"""Tasks of the analytics worker for reports: make them, delete old ones."""

from __future__ import annotations

from contextlib import suppress

from celery import shared_task
from kombu.exceptions import OperationalError

from dashboard.clock.moments import moment_of
from dashboard.jobs.kept import CHILD, SETTLED
from dashboard.models import JobRun

from .retention import expire_reports
from .runner import run_claimed
from .writers.files import keep_files
from .writes import RUN_TASK, WARM_TASK


@shared_task(name=RUN_TASK, ignore_result=True)
def run(pk: int) -> bool:
    """Run the job of that key, unless another worker has it, and make its files."""
    has_run = run_claimed(pk, CHILD)
    if has_run:
        keep_files(JobRun.objects.get(pk=pk))
    return has_run


@shared_task(name=WARM_TASK, ignore_result=True)
def warm() -> None:
    """Start Spark for the report that somebody is about to ask for."""
    CHILD.warm()


@shared_task(name="dashboard.jobs.make_waiting", ignore_result=True)
def make_waiting() -> bool:
    """Make the report that has waited longest, whatever became of its own task.

    A restart of Redis forgets tasks, and a killed worker hides those that it had taken.
    While several wait, this task asks for itself again, behind the tasks that wait with
    it. A run that has a task as well is made by whichever claims it first.
    """
    waiting = JobRun.objects.filter(state=JobRun.State.QUEUED, cancel_asked=False)
    pk = waiting.order_by("asked_at", "pk").values_list("pk", flat=True).first()
    if pk is None:
        return False
    has_run = run(pk)
    if waiting.exists():
        with suppress(OperationalError):  # beat asks again within a minute
            make_waiting.delay()
    return has_run


@shared_task(name="dashboard.jobs.expire_reports", ignore_result=True)
def expire_old_reports() -> int:
    """Delete the reports whose time is over; return their number.

    None is within an hour of the worker's start or of a jump of the clock.
    """
    now_ms = SETTLED.now_ms()
    return 0 if now_ms is None else expire_reports(moment_of(now_ms))
