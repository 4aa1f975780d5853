"""Records each run of periodic work, so that lateness can be seen.

One row per worker, timer and slot, however many members the run served. Rows are
written in batches every few seconds and removed after a day. A slot that came due
while the last one still ran is recorded as skipped.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from .fields import StorableTextField


class TimerRun(models.Model):
    """One run: due at the start of its slot, begun by whoever asked first."""

    class Outcome(models.TextChoices):
        DONE = "done", _("done")
        PARTLY = "partly", _("partly failed")
        FAILED = "failed", _("failed")
        SKIPPED = "skipped", _("skipped, the last one still ran")

    worker = models.CharField(max_length=255)
    timer = models.CharField(max_length=32)
    slot = models.PositiveBigIntegerField()
    due = models.DateTimeField()
    started = models.DateTimeField()
    took_ms = models.FloatField()
    outcome = models.CharField(max_length=16, choices=Outcome.choices)
    asked_by = models.CharField(max_length=255)
    members = models.PositiveSmallIntegerField(default=0)
    error = StorableTextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-due"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["worker", "timer", "slot"], name="one_run_a_slot"
            )
        ]
        indexes: ClassVar = [models.Index(fields=["-due"])]

    def __str__(self) -> str:
        return f"{self.timer} slot {self.slot} on {self.worker}"

    @property
    def late_ms(self) -> float:
        """How long after its slot began the run was started, in ms."""
        return max(0.0, (self.started - self.due).total_seconds() * 1000)
