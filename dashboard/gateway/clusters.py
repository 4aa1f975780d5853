"""Bring the cluster table in line with the settings."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings
from django.db import transaction

from dashboard.models import Cluster

from .settings import ClusterSettings


@transaction.atomic
def sync_clusters(configured: Mapping[str, ClusterSettings]) -> None:
    """Add and update the clusters named, mark the others as no longer configured."""
    for cluster in configured.values():
        Cluster.objects.update_or_create(
            name=cluster.name,
            defaults={
                "name_servers": list(cluster.name_servers),
                "embedded": cluster.embedded,
                "configured": True,
            },
        )
    Cluster.objects.exclude(name__in=configured).update(configured=False)


def sync_clusters_after_migrate(**_signal: object) -> None:
    sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
