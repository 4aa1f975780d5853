"""Teams, the groups that they own, and what is noted on a single group."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from .fields import NameField, StorableTextField
from .user import User


class Teams(models.QuerySet["Team"]):
    def seen_by(self, user: User) -> Teams:
        """Keep one's own teams and those that own something which the user may see.

        Whoever sees all clusters sees all teams.
        """
        names = user.clusters_seen
        if names is None:
            return self
        owning = Q(ownerships__cluster__in=["", *names])
        return self.filter(owning | Q(members=user)).distinct()


class Team(models.Model):
    """People who answer for groups; `contact` is where to reach them, as free text."""

    name = NameField(max_length=60, unique=True)
    contact = NameField(max_length=200, blank=True)
    note = StorableTextField(blank=True)
    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL, related_name="teams", blank=True
    )

    objects = Teams.as_manager()

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name


class Ownership(models.Model):
    """The groups that a team owns: those that match a pattern, as in `Grant`.

    `cluster` is a name; empty means every cluster. No two teams own the same pattern of
    the same cluster; which of several patterns counts is in `accounts.owners`.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="ownerships")
    cluster = NameField(max_length=63, blank=True)
    groups = NameField(max_length=255)

    class Meta:
        ordering: ClassVar = ["cluster", "groups"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "groups"], name="one_team_a_pattern"
            )
        ]

    def __str__(self) -> str:
        return f"{self.groups} on {self.cluster or 'every cluster'}"


class GroupNote(models.Model):
    """What people should know of one group; `cluster` and `group` are names."""

    cluster = NameField(max_length=63)
    group = NameField(max_length=255)
    text = StorableTextField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "group"], name="one_note_a_group"
            )
        ]

    def __str__(self) -> str:
        return f"note on {self.group} of {self.cluster}"
