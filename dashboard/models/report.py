"""Reports: their definitions, the runs made from them, and the runs' files.

A run is claimed by one worker with a conditional update of its state, and only that
worker writes to it until it ends. A running row that was not written to for
`LOST_AFTER` belongs to a worker that was killed (`dashboard.reports.lost`). A queued
row is enough for its run to be made: its task only makes that sooner.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import ClassVar, Final, Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from .fields import NameField, StorableJSONField, StorableTextField
from .user import User

_Row = TypeVar("_Row", bound=models.Model)

LOST_AFTER: Final = timedelta(seconds=60)
LATE_AFTER: Final = timedelta(minutes=2)
FORMAT_KEYS: Final = ("csv", "xlsx", "parquet", "html", "pdf")
KEEP_DAYS: Final = 30
"""How long a report is kept by default."""


def new_folder() -> str:
    """Return a name for a run's results that no other run of any database has.

    Installations may share a lake, and a restored database counts its runs from an
    earlier number again: so the number of a run cannot name its folder there.
    """
    return secrets.token_hex(16)


class Grouping(models.TextChoices):
    """What a row of a report stands for, besides its step of time."""

    GROUP = "group"
    TOPIC = "topic"
    QUEUE = "queue"
    CONSUMER = "consumer"


class Paper(models.TextChoices):
    """The sheets that a PDF is laid out for."""

    A4 = "a4"
    LETTER = "letter"


class ReportContent(models.Model):
    """The subject of a report and the form of its files; a run copies its definition's.

    An empty `group`, `topic` or `consumer` means all of them; at most one of topic and
    consumer is given. `formats` names the files that are made as soon as the numbers
    are ready; others are made on demand. `language` and `zone` are for those files;
    pages and files requested later follow their reader. `added_members` are numbers of
    members, more or (negative) fewer, to compare with; `options` those of strategies,
    as `analytics.requests.JobRequest` takes them.
    """

    name = NameField(max_length=120, blank=True)
    cluster = models.CharField(max_length=63)
    group = NameField(max_length=255, blank=True)
    topic = NameField(max_length=255, blank=True)
    consumer = NameField(max_length=255, blank=True)
    grouping = models.CharField(max_length=16, default=Grouping.QUEUE)
    added_members = StorableJSONField(default=list, blank=True)
    options = StorableJSONField(default=dict, blank=True)
    formats = StorableJSONField(default=list, blank=True)
    paper = models.CharField(max_length=16, default=Paper.A4)
    language = models.CharField(max_length=16, default="en")
    zone = models.CharField(max_length=64, default="UTC")

    class Meta:
        abstract = True


class Reports(models.QuerySet[_Row]):
    def seen_by(self, user: User) -> Self:
        """Keep those on clusters that a user may look at."""
        names = user.clusters_seen
        return self if names is None else self.filter(cluster__in=names)


class ReportDefinition(ReportContent):
    """A report by name, run on request or by its schedule.

    `period` is a key of `dashboard.reports.request.periods.LAST`. `next_at` is null
    without a schedule; it is only advanced by an UPDATE whose WHERE names the time that
    was read, so that of two schedulers exactly one makes the run.
    """

    class Every(models.TextChoices):
        NEVER = "", ""
        HOUR = "hour"
        DAY = "day"
        WEEK = "week"
        MONTH = "month"

    period = models.CharField(max_length=16)
    every = models.CharField(max_length=8, default=Every.NEVER, blank=True)
    at_minute = models.PositiveSmallIntegerField(default=5)
    """Minute of the day in `zone`; of the hour if it runs every hour."""
    on_day = models.PositiveSmallIntegerField(default=1)
    """Day of the week (Monday is 1) or of the month, for weekly and monthly runs."""
    keep_days = models.PositiveSmallIntegerField(default=KEEP_DAYS)
    paused = models.BooleanField(default=False)
    next_at = models.DateTimeField(null=True, db_index=True)
    made_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    made_by_name = NameField(max_length=150)

    objects = Reports.as_manager()

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["name"], name="one_report_a_name")
        ]

    def __str__(self) -> str:
        return self.name


TRIAL: Final = "trial"
"""The `JobRun.job` of a rule for alerts that is tried on the past, not a report."""


class Runs(Reports[_Row]):
    def reports(self) -> Self:
        """Leave out what is no report."""
        return self.exclude(job=TRIAL)

    def trials(self) -> Self:
        """Keep the trials of rules for alerts."""
        return self.filter(job=TRIAL)


class JobRun(ReportContent):
    """One run of a job over [since, until) of a cluster; no group means all of them.

    Most are reports. That of a trial has its rule and its groups in `options`.

    `part` is the share that is done, 0 to 1. `summary` is the job's own, set once the
    state is done. `due_at` is set if a schedule asked; `missed` counts the earlier
    times that passed while nothing ran and that this run stands for. `folder` is where
    its results are in the lake; runs of earlier versions have their number there.
    """

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    ACTIVE: Final = (State.QUEUED, State.RUNNING)

    definition = models.ForeignKey(
        ReportDefinition, null=True, on_delete=models.SET_NULL, related_name="runs"
    )
    due_at = models.DateTimeField(null=True)
    missed = models.PositiveIntegerField(default=0)
    job = models.CharField(max_length=16)
    since = models.DateTimeField()
    until = models.DateTimeField()
    state = models.CharField(max_length=16, default=State.QUEUED)
    part = models.FloatField(default=0.0)
    phase = models.CharField(max_length=64, blank=True)
    error = StorableTextField(blank=True)
    cancel_asked = models.BooleanField(default=False)
    asked_at = models.DateTimeField()
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    asked_by_name = NameField(max_length=150)
    started_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    summary = StorableJSONField(default=dict)
    size_bytes = models.PositiveBigIntegerField(null=True)
    folder = models.CharField(max_length=32, default=new_folder, editable=False)
    keep_until = models.DateTimeField(null=True)

    objects = Runs.as_manager()

    class Meta:
        ordering: ClassVar = ["-asked_at", "-pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "group"],
                condition=Q(state__in=["queued", "running"]) & ~Q(job="trial"),
                name="one_active_run_a_group",
            )
        ]
        indexes: ClassVar = [models.Index(fields=["cluster", "group", "-asked_at"])]

    def __str__(self) -> str:
        return f"{self.job} of {self.cluster} {self.group or '*'} ({self.state})"

    @property
    def is_active(self) -> bool:
        """True while it waits or runs."""
        return self.state in self.ACTIVE

    @property
    def is_ready(self) -> bool:
        """True when there is something to show and download."""
        return self.state == self.State.DONE

    @property
    def percent(self) -> int:
        """The share that is done, 0 to 100."""
        return int(self.part * 100)

    @property
    def total_bytes(self) -> int:
        """The size in bytes of the numbers and of the files kept beside them."""
        return (self.size_bytes or 0) + sum(
            file.size_bytes or 0 for file in self.files.all()
        )

    @property
    def is_late(self) -> bool:
        """True for a run of a schedule that was made well after its time."""
        return self.due_at is not None and self.asked_at - self.due_at > LATE_AFTER


class ReportFile(models.Model):
    """One file of a run, kept beside its numbers; `error` says why there is none."""

    run = models.ForeignKey(JobRun, on_delete=models.CASCADE, related_name="files")
    format = models.CharField(max_length=16)
    path = models.CharField(max_length=255, blank=True)
    """The path below the run's output in the lake."""
    size_bytes = models.PositiveBigIntegerField(null=True)
    made_at = models.DateTimeField()
    error = StorableTextField(blank=True)

    class Meta:
        ordering: ClassVar = ["pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["run", "format"], name="one_file_a_run_and_format"
            )
        ]

    def __str__(self) -> str:
        return f"{self.format} of run {self.run_id}"
