"""Each run of a periodic piece of work, so that lateness can be seen.

One row per worker, timer and slot, however many members the run served. Rows are
written in batches every few seconds and removed after a day.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class TimerRun(models.Model):
    """One run: due at the begin of its slot, started by whoever asked first."""

    class Outcome(models.TextChoices):
        DONE = "done"
        PARTLY = "partly"
        FAILED = "failed"

    worker = models.CharField(max_length=255)
    timer = models.CharField(max_length=32)
    slot = models.PositiveBigIntegerField()
    due = models.DateTimeField()
    started = models.DateTimeField()
    took_ms = models.FloatField()
    outcome = models.CharField(max_length=16, choices=Outcome.choices)
    asked_by = models.CharField(max_length=255)
    members = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True)

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
