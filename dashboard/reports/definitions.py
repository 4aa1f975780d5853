"""Reports by name: kept, changed, deleted and run, by people and by their schedules."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass, fields
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.models import (
    Cluster,
    JobRun,
    ReportDefinition,
    User,
)
from dashboard.models.audit import record
from dashboard.models.counting import count_alone
from dashboard.models.report import KEEP_DAYS
from dashboard.reports.request.periods import DEFAULT, span_of
from dashboard.reports.request.refusals import ReportRefusedError
from dashboard.reports.request.schedules import next_time, plan_of, times_due

from .writes import (
    Content,
    allow,
    check_group,
    one_of,
    queue_run,
)

logger = logging.getLogger(__name__)

Every = ReportDefinition.Every

MOST_KEEP_DAYS = 3650
MOST_DEFINITIONS = 1_000
"""All are listed on one page, and each may make a report an hour."""
_DAY_MINUTES = 24 * 60
_LAST_DAY = {Every.WEEK: 7, Every.MONTH: 31}
_AT_ONCE = 20
"""Definitions looked at in one go; what is left is due at the next tick."""


@dataclass(frozen=True, slots=True)
class DefinitionFields:
    """The fields of a definition; `check` refuses values that make no sense."""

    content: Content
    cluster: str
    group: str = ""
    period: str = DEFAULT
    every: str = Every.NEVER
    at_minute: int = 5
    on_day: int = 1
    keep_days: int = KEEP_DAYS
    paused: bool = False

    @classmethod
    def of(cls, row: object) -> DefinitionFields:
        """Return the definition from any object that has its fields as attributes."""
        names = [each.name for each in fields(cls) if each.name != "content"]
        return cls(Content.of(row), **{name: getattr(row, name) for name in names})

    def check(self) -> None:
        """Raise ReportRefusedError for the first value that is not valid."""
        if not self.content.name.strip():
            raise ReportRefusedError(_("The report needs a name."), "name")
        if not Cluster.objects.filter(name=self.cluster, configured=True).exists():
            raise ReportRefusedError(
                _("There is no cluster “%(name)s”.") % {"name": self.cluster[:63]},
                "cluster",
            )
        self.content.check()
        span_of(self.period)
        one_of("every", _("schedule"), self.every, Every.values)
        last_day = _LAST_DAY.get(Every(self.every), 31)
        self._within("at_minute", _("Minute of the day"), 0, _DAY_MINUTES - 1)
        self._within("on_day", _("Day"), 1, last_day)
        self._within("keep_days", _("Days kept"), 1, MOST_KEEP_DAYS)

    def _within(self, field: str, what: str, least: int, most: int) -> None:
        value = getattr(self, field)
        if not least <= value <= most:
            raise ReportRefusedError(
                _("%(what)s: %(value)s is not between %(least)s and %(most)s.")
                % {"what": what, "value": value, "least": least, "most": most},
                field,
            )


def save_definition(
    wish: DefinitionFields, *, by: User, definition: ReportDefinition | None = None
) -> ReportDefinition:
    """Make a definition, or change one; its schedule begins to count from now.

    Raises ReportRefusedError for values that make no sense or a name that is taken, and
    PermissionDenied below the role of an operator.
    """
    allow(by, wish.cluster, wish.group)
    if definition is not None:
        was = ReportDefinition.objects.get(pk=definition.pk)
        allow(by, was.cluster, was.group)
    wish.check()
    is_new = definition is None
    # A form has changed the row in memory; a group that went since may be kept.
    is_same = definition is not None and (
        ReportDefinition.objects.filter(
            pk=definition.pk, cluster=wish.cluster, group=wish.group
        ).exists()
    )
    if not is_same:
        check_group(wish.cluster, wish.group)
    if definition is None:
        definition = ReportDefinition(made_by=by, made_by_name=by.get_username())
    values = asdict(wish) | wish.content.values()
    del values["content"]
    for name, value in values.items():
        setattr(definition, name, value)
    definition.next_at = next_time(plan_of(definition), timezone.now())
    try:
        with transaction.atomic():
            if is_new:
                _check_room()
            definition.save()
            record(
                by,
                "report.define" if is_new else "report.change",
                cluster=definition.cluster,
                target=definition.name,
                details={"definition": definition.pk, **values},
            )
    except IntegrityError:
        raise ReportRefusedError(
            _("There is already a report named “%(name)s”.")
            % {"name": definition.name},
            "name",
        ) from None
    return definition


def _check_room() -> None:
    count_alone("report definitions")
    if ReportDefinition.objects.count() >= MOST_DEFINITIONS:
        raise ReportRefusedError(
            _("There are already %(limit)s reports by name, which is the limit.")
            % {"limit": MOST_DEFINITIONS},
            "name",
        )


@transaction.atomic
def delete_definition(definition: ReportDefinition, *, by: User) -> None:
    """Delete a definition; the reports made from it stay until they expire."""
    allow(by, definition.cluster, definition.group)
    pk = definition.pk
    gone, _rows = ReportDefinition.objects.filter(pk=pk).delete()
    if gone:
        record(
            by,
            "report.forget",
            cluster=definition.cluster,
            target=definition.name,
            details={"definition": pk},
        )


def run_definition(definition: ReportDefinition, *, by: User) -> JobRun:
    """Queue a report of a definition over its period up to now."""
    allow(by, definition.cluster, definition.group)
    return queue_run(
        _run_of(definition, timezone.now()), by=by, keep_days=definition.keep_days
    )


def start_due_reports(now: datetime) -> list[JobRun]:
    """Queue the reports that are due and return the runs; cheap if nothing is due.

    1. Read the definitions whose time has come: one query on an index.
    2. Claim each by moving its time on, where it still is what was read; whoever else
       looks at the same time finds it moved.
    3. Queue one run for the last time that is due. Earlier ones, missed while nothing
       ran, are counted in it, and its period ends when it was due.

    A definition whose group has a report under way stays due until that has ended.
    """
    due = ReportDefinition.objects.filter(paused=False, next_at__lte=now)
    found = list(due.order_by("next_at")[:_AT_ONCE])
    runs = (_start_due(definition, now) for definition in found)
    return [run for run in runs if run is not None]


def _start_due(definition: ReportDefinition, now: datetime) -> JobRun | None:
    read = definition.next_at
    assert read is not None  # noqa: S101  the query saw to it
    plan = plan_of(definition)
    due, missed = times_due(plan, read, now)
    run = _run_of(definition, due)
    run.due_at, run.missed = due, missed
    try:
        with transaction.atomic():
            claimed = ReportDefinition.objects.filter(
                pk=definition.pk, next_at=read
            ).update(next_at=next_time(plan, now))
            if not claimed:
                return None
            return queue_run(run, by=None, keep_days=definition.keep_days)
    except ReportRefusedError as refusal:
        logger.info("definition=%s waits: %s", definition.pk, refusal)
        return None


def _run_of(definition: ReportDefinition, until: datetime) -> JobRun:
    return JobRun(
        definition=definition,
        cluster=definition.cluster,
        group=definition.group,
        **Content.of(definition).values(),
        since=until - span_of(definition.period),
        until=until,
    )
