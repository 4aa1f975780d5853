"""Request, cancel or delete a report; all of these are audited."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError
from redis.exceptions import OutOfMemoryError, RedisError

from dashboard.frame.outages import outage_of
from dashboard.live.overview_rows import row_of
from dashboard.live.reading import read_overview
from dashboard.models import (
    Epoch,
    Grouping,
    JobRun,
    Paper,
    Role,
    User,
)
from dashboard.models.audit import SYSTEM, record
from dashboard.models.counting import count_alone
from dashboard.models.report import FORMAT_KEYS, KEEP_DAYS
from dashboard.reports.data.output import delete_output
from dashboard.reports.request.comparisons import (
    check_comparisons,
    with_known_options,
)
from dashboard.reports.request.refusals import (
    ReportRefusedError,
    TooManyReportsError,
)

logger = logging.getLogger(__name__)

REPORT = "report"
RUN_TASK = "dashboard.jobs.run"
WARM_TASK: Final = "dashboard.jobs.warm"
WARM_SECONDS: Final = 60
"""A wish to start Spark ahead that has waited for longer is dropped."""

MOST_ACTIVE: Final = 100
"""Reports waiting or being made, whoever asked; those of schedules wait for room."""
MOST_ACTIVE_A_USER: Final = 10


@dataclass(frozen=True, slots=True)
class Content:
    """The subject of a report beyond its cluster and group, and the form of its files.

    Its fields are those of the table (`ReportContent`), and whatever forms, programs
    and definitions ask for comes through it. `check` refuses values that make no sense,
    naming the value and the alternatives.
    """

    name: str = ""
    topic: str = ""
    consumer: str = ""
    grouping: str = Grouping.QUEUE
    added_members: tuple[int, ...] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    formats: tuple[str, ...] = ()
    paper: str = Paper.A4
    language: str = "en"
    zone: str = "UTC"

    @classmethod
    def of(cls, row: object) -> Content:
        """Return the content from any object that has its fields as attributes."""
        given = {name: getattr(row, name) for name in CONTENT_FIELDS}
        for name in ("added_members", "formats"):
            given[name] = tuple(dict.fromkeys(given[name]))
        return cls(**given)

    def values(self) -> dict[str, Any]:
        """Return the fields as the table takes them."""
        lists = {"added_members": list(self.added_members), "formats": [*self.formats]}
        return asdict(self) | {"name": self.name.strip(), **lists}

    def check(self) -> None:
        """Raise ReportRefusedError for the first value that is not valid."""
        if self.topic and self.consumer:
            raise ReportRefusedError(
                _(
                    "Choose a topic or a consumer. Lag is not kept for the two "
                    "together."
                ),
                "consumer",
            )
        one_of("grouping", _("grouping"), self.grouping, Grouping.values)
        check_comparisons(self.added_members, self.options)
        one_of("paper", _("paper"), self.paper, Paper.values)
        languages = [code for code, _name in settings.LANGUAGES]
        one_of("language", _("language"), self.language, languages)
        for form in self.formats:
            one_of("formats", _("format"), form, FORMAT_KEYS)
        try:
            ZoneInfo(self.zone)
        except (ValueError, OSError, ZoneInfoNotFoundError):
            raise ReportRefusedError(
                _("There is no time zone “%(name)s”.") % {"name": self.zone[:40]},
                "zone",
            ) from None


CONTENT_FIELDS: Final = tuple(each.name for each in fields(Content))


def start_report(
    *,
    cluster: str,
    group: str,
    since: datetime,
    until: datetime,
    by: User,
    content: Content | None = None,
) -> JobRun:
    """Queue a report over [since, until) of a group, or of all groups when empty.

    Raises ReportRefusedError for an empty period, for a content that makes no sense,
    for a group that the cluster does not know, and when one is already running for the
    same group or as many as may be; PermissionDenied below the role of an operator.
    """
    allow(by, cluster, group)
    if since >= until:
        raise ReportRefusedError(_("The period ends before it begins."), "until")
    content = content or Content()
    content.check()
    check_group(cluster, group)
    return queue_run(
        JobRun(
            cluster=cluster, group=group, since=since, until=until, **content.values()
        ),
        by=by,
        keep_days=KEEP_DAYS,
    )


def queue_run(run: JobRun, *, by: User | None, keep_days: int) -> JobRun:
    """Save a run as waiting, with its audit entry, and hand it over after the commit.

    Without a user, the request is the program's own. Raises ReportRefusedError when a
    report of the same group is active, or as many as may be at once.
    """
    run.job, run.options = REPORT, with_known_options(run)
    details: dict[str, Any] = {}
    if run.due_at:
        details |= {"due": _iso(run.due_at), "missed": run.missed}
    if run.definition_id:
        details["definition"] = run.definition_id
    try:
        return queue_job(run, "report.start", details, by=by, keep_days=keep_days)
    except IntegrityError:
        raise ReportRefusedError(
            _("A report of “%(group)s” is already being made.")
            % {"group": run.group or run.cluster},
            "group",
        ) from None


def queue_job(
    run: JobRun,
    action: str,
    details: Mapping[str, Any],
    *,
    by: User | None,
    keep_days: int,
) -> JobRun:
    """Save a run of any job as waiting, with its audit entry, and hand it over.

    Raises TooManyReportsError when as many as may be are active, and IntegrityError
    when another run stands in its way.
    """
    run.asked_at = timezone.now()
    run.asked_by, run.asked_by_name = by, by.get_username() if by else SYSTEM
    run.keep_until = run.asked_at + timedelta(days=keep_days)
    with transaction.atomic():
        _check_room(by)
        run.save(force_insert=True)
        span = {"since": _iso(run.since), "until": _iso(run.until)}
        record(
            by,
            action,
            cluster=run.cluster,
            target=run.name or run.group or "*",
            details={"run": run.pk, **span, **details},
        )
    send(run)
    return run


def send(run: JobRun) -> None:
    """Hand a queued run to the analytics worker once its row is committed."""
    # Imported by the first report: most web processes never send a task.
    app = import_string(settings.CELERY_APPLICATION)

    def hand_over() -> None:
        try:
            app.send_task(RUN_TASK, args=(run.pk,))
        except (OperationalError, RedisError) as error:
            logger.warning("run=%s not sent: %s", run.pk, error)
            _not_sent(run, error)

    transaction.on_commit(hand_over)


def start_ahead() -> None:
    """Ask the analytics worker to start Spark for a report that is about to come.

    The process ends when idle, as after a report. Where the queue is away nothing is
    said: whoever then asks for the report is told.
    """
    app = import_string(settings.CELERY_APPLICATION)
    with suppress(OperationalError, RedisError):
        app.send_task(WARM_TASK, args=(), expires=WARM_SECONDS)


def _not_sent(run: JobRun, error: Exception) -> None:
    """Say why on the run's page; a full queue is asked again for it, as beat does."""
    cause = error.__cause__ if isinstance(error.__cause__, RedisError) else error
    row = JobRun.objects.filter(pk=run.pk)
    if isinstance(cause, OutOfMemoryError):
        row.update(error=outage_of(cause) or "")
        return
    row.update(
        state=JobRun.State.FAILED,
        error=_("The work queue cannot be reached."),
        finished_at=timezone.now(),
    )


@transaction.atomic
def cancel_report(run: JobRun, *, by: User) -> None:
    """Ask a run to stop; one that no worker has claimed ends at once."""
    allow(by, run.cluster, run.group)
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


@transaction.atomic
def delete_report(run: JobRun, *, by: User) -> None:
    """Delete a run with its numbers and files; an active run is refused."""
    allow(by, run.cluster, run.group)
    gone, _rows = (
        JobRun.objects.filter(pk=run.pk).exclude(state__in=JobRun.ACTIVE).delete()
    )
    if not gone:
        raise ReportRefusedError(_("Cancel the report first: it is being made."))
    record(
        by,
        "report.delete",
        cluster=run.cluster,
        target=run.name or run.group or "*",
        details={"run": run.pk},
    )
    # Files go last: the deletion may be rolled back, and files do not come back.
    transaction.on_commit(lambda: delete_output(run.folder))


def one_of(field: str, what: str, value: str, known: Iterable[str]) -> None:
    """Raise ReportRefusedError unless a field's value is one of those known."""
    names = list(known)
    if value not in names:
        raise ReportRefusedError(
            _("There is no %(what)s “%(value)s”; there are %(known)s.")
            % {"what": what, "value": value[:40], "known": ", ".join(names)},
            field,
        )


def check_group(cluster: str, group: str) -> None:
    """Raise ReportRefusedError for a group that the cluster does not know.

    It knows those that it lists, and those that it ever saw with members, which may
    have gone since. While its list cannot be read, any name is taken.
    """
    listed = read_overview(cluster).document
    if not group or listed is None:
        return
    if row_of(listed["groups"], group):
        return
    if not Epoch.objects.filter(cluster__name=cluster, group=group).exists():
        raise ReportRefusedError(
            _("“%(cluster)s” does not know a group “%(group)s”.")
            % {"cluster": cluster, "group": group[:60]},
            "group",
        )


def _check_room(by: User | None) -> None:
    count_alone("reports")
    active = JobRun.objects.filter(state__in=JobRun.ACTIVE)
    if active.count() >= MOST_ACTIVE:
        raise TooManyReportsError(
            _("%(limit)s reports are waiting or being made, and no more may be.")
            % {"limit": MOST_ACTIVE}
        )
    if by and active.filter(asked_by=by).count() >= MOST_ACTIVE_A_USER:
        raise TooManyReportsError(
            _(
                "%(limit)s of your reports are waiting or being made, and no more "
                "may be."
            )
            % {"limit": MOST_ACTIVE_A_USER}
        )


def allow(by: User, cluster: str, group: str) -> None:
    """Raise PermissionDenied below the role of an operator of what is reported on."""
    by.at(cluster, group or None).must_be(Role.OPERATOR)


def may_report(by: User, cluster: str, group: str) -> bool:
    """Tell whether a user may have reports made on a group, or on all when empty."""
    return by.at(cluster, group or None).allows(Role.OPERATOR)


def _iso(moment: datetime) -> str:
    return moment.isoformat()
