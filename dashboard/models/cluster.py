"""The clusters that the settings name, kept so that other rows can point at them."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext as _

from .fields import NameField, StorableJSONField


class Cluster(models.Model):
    """One cluster; `configured` turns false when the settings no longer name it.

    Rows are never deleted, so that audit entries, epochs and reports keep their
    meaning. Access keys are not here; they exist only in the environment.
    """

    name = NameField(max_length=63, unique=True)
    name_servers = StorableJSONField(default=list)
    embedded = models.BooleanField(default=False)
    configured = models.BooleanField(default=True)
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def why_read_only(self) -> str:
        """Why nothing of ours writes to the cluster; empty where it may."""
        given = settings.ROCKETSCOPE_CLUSTERS.get(self.name)
        if given is None:
            return _("Cluster “%(name)s” is no longer configured.") % {
                "name": self.name
            }
        if given.read_only:
            return _(
                "Cluster “%(name)s” is attached read-only, so nothing is written to "
                "it; the setting %(key)s=on changes that."
            ) % {"name": self.name, "key": given.writes_key}
        return ""


class KnownBroker(models.Model):
    """A broker once seen in a cluster, for collectors that start while it is away.

    `addresses` are by broker id, `topics` by name: [read queues, write queues, perm].
    `missing_since` is when the name servers stopped naming it. The row is removed when
    the broker is known to be gone.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    name = NameField(max_length=255)
    cluster_name = NameField(max_length=255)
    addresses = StorableJSONField(default=dict)
    topics = StorableJSONField(default=dict)
    missing_since = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["cluster", "name"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cluster", "name"], name="one_row_a_known_broker"
            )
        ]

    def __str__(self) -> str:
        return self.name
