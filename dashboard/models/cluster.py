"""The clusters that the settings name, kept so that other rows can point at them."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class Cluster(models.Model):
    """One cluster; `configured` turns false when the settings no longer name it.

    Rows are never deleted: audit entries, epochs and reports go on meaning something.
    Access keys are not here, they live in the environment only.
    """

    name = models.CharField(max_length=63, unique=True)
    name_servers = models.JSONField(default=list)
    embedded = models.BooleanField(default=False)
    configured = models.BooleanField(default=True)
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name
