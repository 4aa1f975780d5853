"""The clusters there are now: those of the settings, and those attached on a page.

Every process asks here, whenever it needs to know, and so learns of a cluster that was
attached or removed without being restarted. The settings of the environment take
precedence: a cluster that they name is as they say, whatever the database holds.
Nothing is kept between two questions: the answer takes one query of a table with a few
rows, and for a cluster of the settings not even that.
"""

from __future__ import annotations

from django.conf import settings

from dashboard.models import Cluster

from .settings import ClusterSettings


def clusters_now() -> dict[str, ClusterSettings]:
    """Return the settings of every cluster, by name. Raise DatabaseError."""
    found: dict[str, ClusterSettings] = dict(settings.ROCKETSCOPE_CLUSTERS)
    for row in Cluster.objects.filter(attached=True, configured=True):
        given = row.settings_now
        if given is not None:
            found.setdefault(row.name, given)
    return found


def cluster_now(name: str) -> ClusterSettings | None:
    """Return the settings of one cluster, None where there is none of that name.

    Raise DatabaseError, but not for a cluster of the settings.
    """
    given: ClusterSettings | None = settings.ROCKETSCOPE_CLUSTERS.get(name)
    if given is not None:
        return given
    row = Cluster.objects.filter(name=name, attached=True, configured=True).first()
    return None if row is None else row.settings_now
