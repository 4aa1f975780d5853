"""What readers chose of a list, kept under a name: the query of its address."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from .fields import NameField, StorableTextField
from .user import User


class SavedViews(models.QuerySet["SavedView"]):
    def seen_by(self, user: User) -> SavedViews:
        """Keep those that a user may open: their own, and shared ones."""
        return self.filter(Q(shared=True) | Q(owner=user))


class SavedView(models.Model):
    """A view of a list; it goes with the account of its owner.

    `table` is the list, whatever the cluster; `path` is the page on which it was saved.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    table = models.CharField(max_length=64)
    name = NameField(max_length=60)
    path = StorableTextField()
    query = StorableTextField(blank=True)
    shared = models.BooleanField(default=False)
    changed_at = models.DateTimeField(auto_now=True)

    objects = SavedViews.as_manager()

    class Meta:
        ordering: ClassVar = ["table", "name", "pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["owner", "table", "name"], name="one_view_a_name"
            )
        ]
        indexes: ClassVar = [
            models.Index(fields=["table", "shared"], name="views_of_a_table")
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.table})"
