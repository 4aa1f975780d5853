"""Moves of a group's offsets, with what was committed before them."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from .cluster import Cluster
from .fields import NameField, StorableJSONField, StorableTextField


class OffsetChange(models.Model):
    """One move of a group's offsets in one topic; kept for 30 days, to undo it.

    `query` says where the offsets go, as the address of the preview does. `rows` are
    the queues that moved, in the order of the preview: {"broker", "queue_id", "before",
    "asked", "stood", "problem"}. `before` is None where nothing was committed, `stood`
    what was read back at once, None until then. `online` is None if it was not known
    whether members were online.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    group = NameField(max_length=255)
    topic = NameField(max_length=255)
    query = StorableTextField(blank=True)
    rows = StorableJSONField(default=list)
    online = models.BooleanField(null=True)
    undo_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="undone"
    )
    reason = StorableTextField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    by_name = NameField(max_length=150)
    at = models.DateTimeField(db_index=True)

    class Meta:
        ordering: ClassVar = ["-at", "-pk"]
        indexes: ClassVar = [models.Index(fields=["cluster", "group", "-at"])]

    def __str__(self) -> str:
        return f"{self.group}, {self.topic}: {len(self.rows)} queues by {self.by_name}"
