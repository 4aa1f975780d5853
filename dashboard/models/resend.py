"""Runs that resend a group's dead letters, and what became of each letter.

A run is claimed by one worker with a conditional update of its state, and only that
worker writes to it until it ends. A running row that has not been seen for
`RESEND_LOST_AFTER` belongs to a worker that was killed: the run has ended, and it is
not taken up again, because what was being sent then may have been stored or not.
"""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar, Final

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from .cluster import Cluster
from .fields import NameField, StorableTextField

RESEND_LOST_AFTER: Final = timedelta(seconds=90)
"""Five letters in a row whose broker does not answer take most of it."""


class ResendRun(models.Model):
    """One run; kept for 30 days. `rate` is in messages a second.

    `chosen` says how its letters were chosen, as the address of the preview does.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("finished")
        FAILED = "failed", _("failed")
        STOPPED = "stopped", _("stopped")

    class Target(models.TextChoices):
        GROUP = "group", _("the group")
        TOPIC = "topic", _("the topic")

    ACTIVE: Final = (State.QUEUED, State.RUNNING)

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    group = NameField(max_length=255)
    target = models.CharField(max_length=8, choices=Target.choices)
    chosen = StorableTextField(blank=True)
    rate = models.PositiveSmallIntegerField()
    reason = StorableTextField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    by_name = NameField(max_length=150)
    at = models.DateTimeField(db_index=True)
    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED)
    stop_asked = models.BooleanField(default=False)
    worker = models.CharField(max_length=255, blank=True)
    started_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    error = StorableTextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-at", "-pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "group"],
                condition=Q(state__in=["queued", "running"]),
                name="one_active_resend_a_group",
            )
        ]
        indexes: ClassVar = [models.Index(fields=["cluster", "group", "-at"])]

    def __str__(self) -> str:
        return f"{self.group} on {self.cluster} ({self.state})"

    @property
    def is_active(self) -> bool:
        """True while it waits or runs."""
        return self.state in self.ACTIVE


class ResentLetter(models.Model):
    """One dead letter of a run, in the order in which they are sent.

    `letter_id` is the offset id of the dead letter; a run has it once. A letter that is
    still `sending` when its run has ended may have been stored or not.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        SENDING = "sending", _("being sent")
        SENT = "sent", _("sent")
        FAILED = "failed", _("failed")
        GONE = "gone", _("no longer kept")

    run = models.ForeignKey(ResendRun, on_delete=models.CASCADE, related_name="letters")
    number = models.PositiveIntegerField()
    letter_id = models.CharField(max_length=64)
    broker = NameField(max_length=255)
    queue_id = models.IntegerField()
    offset = models.BigIntegerField()
    origin_topic = NameField(max_length=255, blank=True)
    unique_key = NameField(max_length=255)
    stored_at_ms = models.BigIntegerField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    sent_at = models.DateTimeField(null=True)
    sent_topic = NameField(max_length=255, blank=True)
    sent_broker = NameField(max_length=255, blank=True)
    sent_queue_id = models.IntegerField(null=True)
    sent_offset = models.BigIntegerField(null=True)
    sent_key = NameField(max_length=255, blank=True)
    error = StorableTextField(blank=True)

    class Meta:
        ordering: ClassVar = ["run", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "letter_id"], name="once_in_a_run")
        ]
        indexes: ClassVar = [models.Index(fields=["letter_id"])]

    def __str__(self) -> str:
        return f"{self.letter_id} of run {self.run_id} ({self.state})"
