"""Desired state of the consumers that RocketScope hosts itself, and who hosts them.

Rows here are wishes; workers follow them. A member's claim (worker, fence, until) is
only ever changed by an UPDATE whose WHERE names the fence that was read, so that of
two workers exactly one wins: see `dashboard.fleet.claims`.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from .cluster import Cluster
from .fields import NameField, StorableJSONField, StorableTextField


class ManagedGroup(models.Model):
    """One consumer group whose members run in the fleet.

    `topics` is a list of {"topic", "expression"}; `revision` grows with every change,
    so that a worker sees at a glance that its members run an older state. A group that
    is `leaving` is removed once its last member has left properly.
    """

    class Mode(models.TextChoices):
        CLUSTERING = "CLUSTERING"
        BROADCASTING = "BROADCASTING"

    class Start(models.TextChoices):
        LAST = "CONSUME_FROM_LAST_OFFSET"
        FIRST = "CONSUME_FROM_FIRST_OFFSET"

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT)
    name = NameField(max_length=255)
    topics = StorableJSONField(default=list)
    mode = models.CharField(
        max_length=16, choices=Mode.choices, default=Mode.CLUSTERING
    )
    orderly = models.BooleanField(default=False)
    strategy = models.CharField(max_length=64, default="AVG")
    strategy_options = StorableJSONField(default=dict, blank=True)
    start_position = models.CharField(
        max_length=32, choices=Start.choices, default=Start.LAST
    )
    members_wanted = models.PositiveSmallIntegerField(default=0)
    listener = models.CharField(max_length=64, default="count")
    listener_options = StorableJSONField(default=dict, blank=True)
    revision = models.PositiveIntegerField(default=1)
    leaving = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    """The user against whose bound it counts; nobody for the program's own groups."""

    class Meta:
        ordering: ClassVar = ["cluster__name", "name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cluster", "name"], name="one_group_a_name")
        ]

    def __str__(self) -> str:
        return f"{self.name} on {self.cluster}"


class ManagedMember(models.Model):
    """One desired member, and the worker that hosts it, if any.

    `wanted` turns false when the member is to leave; its host, or any worker once the
    claim has run out, then removes the row. `fence` grows with each claim.
    """

    group = models.ForeignKey(
        ManagedGroup, on_delete=models.CASCADE, related_name="members"
    )
    number = models.PositiveSmallIntegerField()
    wanted = models.BooleanField(default=True)
    worker = models.CharField(max_length=255, blank=True)
    fence = models.PositiveBigIntegerField(default=0)
    claimed_until = models.DateTimeField(null=True)
    client_id = NameField(max_length=255, blank=True)
    error = StorableTextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["group", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["group", "number"], name="one_member_a_number"
            )
        ]

    def __str__(self) -> str:
        return f"{self.group.name}-{self.number}"


class FleetWorker(models.Model):
    """One live worker that hosts members; it is gone when `seen_until` has passed."""

    name = models.CharField(max_length=255, unique=True)
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    started_at = models.DateTimeField()
    seen_until = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name
