"""Scenarios kept under a name, and changes of hosted groups made from one.

A scenario is kept as the query of its link, the one form that every part of the program
reads; it contains nothing of the group's state.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from .cluster import Cluster
from .fields import NameField, StorableJSONField, StorableTextField
from .fleet import ManagedGroup
from .user import Role, User


class SavedScenarios(models.QuerySet["SavedScenario"]):
    def seen_by(self, user: User) -> SavedScenarios:
        """Keep those that a user may open: their own, and shared ones."""
        return self.filter(Q(shared=True) | Q(owner=user))


class SavedScenario(models.Model):
    """A scenario of a group, or one without a group when `group` is empty.

    `show` is the selected row of the comparison. The owner's name is kept beside the
    user, so that a shared scenario outlives the account.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT)
    group = NameField(max_length=255, blank=True)
    name = NameField(max_length=120)
    query = StorableTextField(blank=True)
    show = models.CharField(max_length=64, blank=True)
    shared = models.BooleanField(default=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    owner_name = NameField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = SavedScenarios.as_manager()

    class Meta:
        ordering: ClassVar = ["name", "pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "group", "owner", "name"],
                name="one_scenario_a_name",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.group or self.cluster.name})"

    def may_change(self, user: User) -> bool:
        """Tell whether a user may replace or delete it: its owner or an admin may."""
        mine = self.owner_id is not None and self.owner_id == user.pk
        return user.allows(Role.ADMIN) or (mine and user.allows(Role.OPERATOR))


class GroupChange(models.Model):
    """One change of how a hosted group divides its queues.

    `before` and `after` are desired states: {"strategy", "strategy_options",
    "members": [numbers]}. `predicted` is the division it was applied for, from client
    id to [[topic, broker, ids such as "0-5,9"]]; `revision` is the group's after it.
    """

    group = models.ForeignKey(
        ManagedGroup, on_delete=models.CASCADE, related_name="changes"
    )
    before = StorableJSONField()
    after = StorableJSONField()
    predicted = StorableJSONField(default=dict)
    revision = models.PositiveIntegerField()
    query = StorableTextField(blank=True)
    row = models.CharField(max_length=64)
    scenario = models.ForeignKey(
        SavedScenario, null=True, blank=True, on_delete=models.SET_NULL
    )
    undo_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="undone"
    )
    reason = StorableTextField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    by_name = NameField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar = ["-at", "-pk"]
        indexes: ClassVar = [models.Index(fields=["group", "-at"])]

    def __str__(self) -> str:
        return f"{self.group.name}: {self.row} by {self.by_name}"
