"""Runs of labs: RocketMQ's rules demonstrated on the embedded cluster.

A run is claimed by one worker with a conditional update of its state, and only that
worker writes to it until it ends. A running row that has not been seen for
`LAB_LOST_AFTER` belongs to a worker that was killed.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, ClassVar, Final

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from .cluster import Cluster
from .fields import NameField, StorableJSONField, StorableTextField
from .user import User

LAB_LOST_AFTER: Final = timedelta(seconds=20)


class LabRuns(models.QuerySet["LabRun"]):
    def seen_by(self, user: User) -> LabRuns:
        """Keep those on clusters that a user may look at."""
        names = user.clusters_seen
        return self if names is None else self.filter(cluster__name__in=names)


class LabRun(models.Model):
    """One run of a lab.

    `steps` is a list of {"key", "params", "at_ms"} as reported by the lab, `claims` one
    of {"key", "params", "seen"}, both in order; the claims are set at the end, with
    `finding`, the warning that such a group should get. `left_over` says that its
    worker is gone, and that its topics may still be on the cluster.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("finished")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    ACTIVE: Final = (State.QUEUED, State.RUNNING)

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT)
    lab = models.CharField(max_length=8)
    parameters = StorableJSONField(default=dict)
    linger_s = models.FloatField(default=0.0)
    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED)
    asked_at = models.DateTimeField()
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    asked_by_name = NameField(max_length=150)
    cancel_asked = models.BooleanField(default=False)
    worker = models.CharField(max_length=255, blank=True)
    started_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    steps = StorableJSONField(default=list)
    claims = StorableJSONField(default=list)
    finding = models.CharField(max_length=64, blank=True)
    error = StorableTextField(blank=True)
    left_over = models.BooleanField(default=False)

    objects = LabRuns.as_manager()

    class Meta:
        ordering: ClassVar = ["-asked_at", "-pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "lab"],
                condition=Q(state__in=["queued", "running"]),
                name="one_active_run_a_lab",
            )
        ]
        indexes: ClassVar = [models.Index(fields=["cluster", "lab", "-asked_at"])]

    def __str__(self) -> str:
        return f"{self.lab} on {self.cluster} ({self.state})"

    @property
    def label(self) -> str:
        """The label in the names of everything that this run creates on the cluster."""
        return f"r{self.pk}-"

    @property
    def is_active(self) -> bool:
        """True while it waits or runs."""
        return self.state in self.ACTIVE

    @property
    def all_seen(self) -> bool:
        """True when everything that the lab demonstrates was seen."""
        claims: list[dict[str, Any]] = self.claims
        return self.state == self.State.DONE and all(each["seen"] for each in claims)

    def is_lost(self, now: datetime) -> bool:
        """Tell whether the worker that ran it has vanished."""
        return (
            self.state == self.State.RUNNING
            and self.seen_at is not None
            and now - self.seen_at > LAB_LOST_AFTER
        )
