"""The clusters there are, kept so that other rows can point at them.

Most are named by the settings; others were attached on a page, and only rows here name
them.
"""

from __future__ import annotations

import logging
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.utils.translation import gettext as _

from .fields import NameField, StorableJSONField
from .user import User

logger = logging.getLogger(__name__)


class Clusters(models.QuerySet["Cluster"]):
    def seen_by(self, user: User | AnonymousUser) -> Clusters:
        """Keep those that a user may look at."""
        if not isinstance(user, User):
            return self.none()
        names = user.clusters_seen
        return self if names is None else self.filter(name__in=names)


class Cluster(models.Model):
    """One cluster; `configured` turns false when nothing names it any more.

    `attached` says that this row names it, not the settings: it was attached on a page,
    with or without `writes`, or it is the embedded cluster, started on request. Rows
    are never deleted, so that audit entries, epochs and reports keep their meaning.
    Access keys are not here; they exist only in the environment.
    """

    name = NameField(max_length=63, unique=True)
    name_servers = StorableJSONField(default=list)
    embedded = models.BooleanField(default=False)
    configured = models.BooleanField(default=True)
    attached = models.BooleanField(default=False, db_default=False)
    writes = models.BooleanField(default=False, db_default=False)
    added_at = models.DateTimeField(auto_now_add=True)

    objects = Clusters.as_manager()

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def settings_now(self) -> Any:
        """The `ClusterSettings` in force; None where nothing names the cluster.

        The settings of the environment take precedence over what this row says.
        """
        given = settings.ROCKETSCOPE_CLUSTERS.get(self.name)
        if given is not None or not (self.attached and self.configured):
            return given
        try:
            return settings.ROCKETSCOPE_ATTACHED_CLUSTER(
                self.name, self.name_servers, writes=self.writes
            )
        except ImproperlyConfigured as error:
            logger.warning("cluster=%s is left out: %s", self.name, error)
            return None

    @property
    def why_read_only(self) -> str:
        """Why RocketScope may not write to the cluster; empty if it may."""
        given = self.settings_now
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
