"""The clusters that pages cover: those that the settings name or that were attached."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.http import Http404
from django.utils.translation import gettext as _

from dashboard.models import Cluster, User


def shown_clusters(user: User | AnonymousUser) -> list[Cluster]:
    """Return the configured clusters that a user may look at."""
    return list(Cluster.objects.filter(configured=True).seen_by(user))


def find_cluster(name: str) -> Cluster:
    """Return a configured cluster; Http404 names one that is not configured."""
    try:
        return Cluster.objects.get(name=name, configured=True)
    except Cluster.DoesNotExist:
        raise Http404(
            _("No cluster “%(name)s” is configured.") % {"name": name}
        ) from None
