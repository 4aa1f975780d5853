"""Bring the cluster table in line with the settings."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from django.conf import settings
from django.db import transaction

from dashboard.models import Cluster

from .settings import ClusterSettings, Encryption

logger = logging.getLogger(__name__)


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


def encryption_of(name: str) -> Encryption:
    """Return how a cluster is spoken to now; one no longer configured is not at all."""
    given: ClusterSettings | None = settings.ROCKETSCOPE_CLUSTERS.get(name)
    return "off" if given is None else given.encryption


def log_unverified(configured: Mapping[str, ClusterSettings]) -> None:
    """Warn of each cluster whose certificates are accepted whoever presents them."""
    for cluster in configured.values():
        if cluster.encryption == "unverified":
            logger.warning(
                "cluster=%s TLS is not verified: any certificate is accepted "
                "(its setting TLS_VERIFY is off)",
                cluster.name,
            )
