"""Tasks of the analytics worker for reports: make one, delete old ones."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from dashboard.jobs.kept import CHILD
from dashboard.models import JobRun

from .retention import expire_reports
from .runner import run_claimed
from .writers.files import keep_files
from .writes import RUN_TASK


@shared_task(name=RUN_TASK, ignore_result=True)
def run(pk: int) -> bool:
    """Run the job of that key, unless another worker has it, and make its files."""
    has_run = run_claimed(pk, CHILD)
    if has_run:
        keep_files(JobRun.objects.get(pk=pk))
    return has_run


@shared_task(name="dashboard.jobs.expire_reports", ignore_result=True)
def expire_old_reports() -> int:
    """Delete the reports whose time is over; return their number."""
    return expire_reports(timezone.now())
