"""Ask for a report, or for its end; both are audited."""

from __future__ import annotations

import logging
from datetime import datetime

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from dashboard.models import JobRun, Role, User
from dashboard.models.report import LOST_AFTER

from .audit import record

logger = logging.getLogger(__name__)

REPORT = "report"
RUN_TASK = "dashboard.jobs.run"


class ReportRefusedError(ValueError):
    """A report cannot be started; the message is for the person who asked."""


def start_report(
    *, cluster: str, group: str, since: datetime, until: datetime, by: User
) -> JobRun:
    """Queue a report over [since, until) of a group, or of all groups when empty.

    Raises ReportRefusedError for an empty period, and when one is running for the
    same group already; PermissionDenied below the role of an operator.
    """
    _allow(by)
    if since >= until:
        raise ReportRefusedError(_("The period ends before it begins."))
    give_up_lost_runs()
    now = timezone.now()
    try:
        with transaction.atomic():
            run = JobRun.objects.create(
                job=REPORT,
                cluster=cluster,
                group=group,
                since=since,
                until=until,
                asked_at=now,
                asked_by=by,
                asked_by_name=by.get_username(),
            )
            record(
                by,
                "report.start",
                cluster=cluster,
                target=group or "*",
                details={
                    "run": run.pk,
                    "since": since.isoformat(),
                    "until": until.isoformat(),
                },
            )
    except IntegrityError:
        raise ReportRefusedError(
            _("A report of “%(group)s” is being made already.")
            % {"group": group or cluster}
        ) from None
    send(run)
    return run


def send(run: JobRun) -> None:
    """Hand a queued run to the analytics worker, once it is there to be found."""
    from dashboard.config.celery import app

    def hand_over() -> None:
        try:
            app.send_task(RUN_TASK, args=(run.pk,))
        except OperationalError as error:
            logger.warning("run=%s not sent: %s", run.pk, error)
            JobRun.objects.filter(pk=run.pk).update(
                state=JobRun.State.FAILED,
                error=_("The work queue cannot be reached."),
                finished_at=timezone.now(),
            )

    transaction.on_commit(hand_over)


@transaction.atomic
def cancel_report(run: JobRun, *, by: User) -> None:
    """Ask a run to stop; one that nobody has claimed ends at once."""
    _allow(by)
    waiting = JobRun.objects.filter(pk=run.pk, state=JobRun.State.QUEUED).update(
        state=JobRun.State.CANCELLED, cancel_asked=True, finished_at=timezone.now()
    )
    running = JobRun.objects.filter(
        pk=run.pk, state=JobRun.State.RUNNING, cancel_asked=False
    ).update(cancel_asked=True)
    if waiting or running:
        record(
            by,
            "report.cancel",
            cluster=run.cluster,
            target=run.group or "*",
            details={"run": run.pk},
        )


def give_up_lost_runs() -> int:
    """Fail runs whose worker has gone; return how many."""
    horizon = timezone.now() - LOST_AFTER
    return JobRun.objects.filter(
        state=JobRun.State.RUNNING, seen_at__lt=horizon
    ).update(
        state=JobRun.State.FAILED,
        error="the analytics worker that ran this has gone",
        finished_at=timezone.now(),
    )


def _allow(by: User) -> None:
    if not by.allows(Role.OPERATOR):
        raise PermissionDenied(
            f"{by.get_username()} is {by.role}; this needs {Role.OPERATOR}"
        )
