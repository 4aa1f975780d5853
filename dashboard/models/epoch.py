"""The history of a group's divisions: epochs, and what happened inside them.

Begin and end are known to the interval between two complete sweeps: the change happened
after `…_after` and no later than `…_by`. Names are kept instead of foreign keys to live
objects: groups and members come and go, but their history stays.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from .cluster import Cluster
from .fields import NameField, StorableJSONField


class Epoch(models.Model):
    """A span in which members (id, strategy, subscriptions), queues and options last.

    `members` is a list of {"client_id", "strategy", "subscriptions"}, `queues` of
    [topic, broker, queue id], both in RocketMQ's order. `options` are those of the
    strategy of a hosted group, as `ManagedGroup` has them; of other groups they are not
    known. `cause` says what opened it. `owners` is a list of [topic, broker, queue id,
    client ids] as last reported, set once the epoch has ended.
    """

    class Cause(models.TextChoices):
        FIRST_SEEN = "first_seen"
        MEMBER_JOINED = "member_joined"
        MEMBER_LEFT = "member_left"
        MEMBERS_CHANGED = "members_changed"
        QUEUES_CHANGED = "queues_changed"
        STRATEGY_CHANGED = "strategy_changed"
        OPTIONS_CHANGED = "options_changed"
        SUBSCRIPTION_CHANGED = "subscription_changed"

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT)
    group = NameField(max_length=255)
    number = models.PositiveIntegerField()
    members = StorableJSONField(default=list)
    queues = StorableJSONField(default=list)
    options = StorableJSONField(null=True)
    cause = models.CharField(max_length=32, choices=Cause.choices)
    began_after = models.DateTimeField(null=True)
    began_by = models.DateTimeField()
    ended_after = models.DateTimeField(null=True)
    ended_by = models.DateTimeField(null=True)
    owners = StorableJSONField(default=list)

    class Meta:
        ordering: ClassVar = ["-began_by"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "group", "number"], name="one_epoch_a_number"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["cluster", "group", "-began_by"]),
            models.Index(fields=["ended_by"]),
        ]

    def __str__(self) -> str:
        return f"{self.group} epoch {self.number}"


class OwnershipEvent(models.Model):
    """A queue changed hands, lost its owner, or got two, between two looks."""

    class Kind(models.TextChoices):
        MOVED = "moved"
        TAKEN = "taken"
        LOST = "lost"
        DOUBLE = "double"
        SETTLED = "settled"

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT)
    group = NameField(max_length=255)
    epoch = models.PositiveIntegerField(null=True)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    topic = NameField(max_length=255)
    broker = NameField(max_length=255)
    queue_id = models.PositiveIntegerField()
    owners_before = StorableJSONField(default=list)
    owners_after = StorableJSONField(default=list)
    exact = models.BooleanField(default=False)
    at_after = models.DateTimeField(null=True)
    at_by = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-at_by"]
        indexes: ClassVar = [
            models.Index(fields=["cluster", "group", "-at_by"]),
            models.Index(fields=["at_by"]),
        ]

    def __str__(self) -> str:
        return f"{self.group} {self.kind} {self.topic}/{self.broker}/{self.queue_id}"
