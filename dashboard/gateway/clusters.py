"""Bring the cluster table in line with the settings."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from django.apps import apps as present_apps
from django.apps.registry import Apps
from django.conf import settings
from django.db import transaction

from dashboard.models import Cluster

from .present import cluster_now
from .settings import EMBEDDED, ClusterSettings, Encryption

logger = logging.getLogger(__name__)


@transaction.atomic
def sync_clusters(configured: Mapping[str, ClusterSettings]) -> None:
    """Add and update the clusters named, mark the others as no longer configured.

    Those attached on a page stay; one that the settings name belongs to them from then
    on.
    """
    for cluster in configured.values():
        Cluster.objects.update_or_create(
            name=cluster.name,
            defaults={
                "name_servers": list(cluster.name_servers),
                "embedded": cluster.embedded,
                "configured": True,
                "attached": False,
                "writes": False,
            },
        )
    others = Cluster.objects.exclude(name__in=configured).exclude(attached=True)
    others.update(configured=False)


def announce_embedded(name_servers: Sequence[str]) -> None:
    """Let every process know of the embedded cluster, which was started on request."""
    Cluster.objects.update_or_create(
        name=EMBEDDED,
        defaults={
            "name_servers": list(name_servers),
            "embedded": True,
            "configured": True,
            "attached": True,
        },
    )


def forget_embedded() -> None:
    """Drop the embedded cluster that an earlier run of the program had started."""
    left = Cluster.objects.filter(embedded=True, attached=True)
    left.update(attached=False, configured=False)


def sync_clusters_after_migrate(
    *, apps: Apps = present_apps, **_signal: object
) -> None:
    """Sync once all migrations have run; before that, the table may lack columns.

    A flush sends the signal without `apps`: its tables match the models.
    """
    there = apps.get_model("dashboard", "Cluster")._meta.concrete_fields
    here = Cluster._meta.concrete_fields
    if {each.name for each in here} == {each.name for each in there}:
        sync_clusters(settings.ROCKETSCOPE_CLUSTERS)


def encryption_of(name: str) -> Encryption:
    """Return how connections to a cluster are encrypted now; "off" if there is none."""
    given = cluster_now(name)
    return "off" if given is None else given.encryption


def log_unverified(configured: Mapping[str, ClusterSettings]) -> None:
    """Warn of each cluster for which any certificate is accepted."""
    for cluster in configured.values():
        if cluster.encryption == "unverified":
            logger.warning(
                "cluster=%s TLS is not verified: any certificate is accepted "
                "(its setting TLS_VERIFY is off)",
                cluster.name,
            )
