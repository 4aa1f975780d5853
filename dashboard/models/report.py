"""Runs of analytics jobs: what was asked for, how far it is, what came of it.

A run is claimed by one worker with a conditional update of its state, and only that
worker writes to it until it ends. A running row that has not been seen for
`LOST_AFTER` belongs to a worker that was killed.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar, Final

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

LOST_AFTER: Final = timedelta(seconds=60)


class JobRun(models.Model):
    """One run of a job over [since, until) of a cluster; no group means all of them.

    `part` is the share that is done, 0 to 1. `summary` is the job's own, and is there
    once the state is done.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("ready")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    ACTIVE: Final = (State.QUEUED, State.RUNNING)

    job = models.CharField(max_length=16)
    cluster = models.CharField(max_length=63)
    group = models.CharField(max_length=255, blank=True)
    since = models.DateTimeField()
    until = models.DateTimeField()
    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED)
    part = models.FloatField(default=0.0)
    phase = models.CharField(max_length=64, blank=True)
    error = models.TextField(blank=True)
    cancel_asked = models.BooleanField(default=False)
    asked_at = models.DateTimeField()
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    asked_by_name = models.CharField(max_length=150)
    started_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    summary = models.JSONField(default=dict)
    size_bytes = models.PositiveBigIntegerField(null=True)

    class Meta:
        ordering: ClassVar = ["-asked_at", "-pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "group"],
                condition=Q(state__in=["queued", "running"]),
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

    def is_lost(self, now: datetime) -> bool:
        """Say whether the worker that ran it has gone without a word."""
        return (
            self.state == self.State.RUNNING
            and self.seen_at is not None
            and now - self.seen_at > LOST_AFTER
        )
