"""`manage.py prepare_demo`: register the group that the demo watches.

Adds the hosted group `demo-consumers` on the embedded cluster: topic `orders`, one
member, a listener that takes a few milliseconds. Running it again keeps any later
changes, and restores the group if it was removed.
"""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.present import clusters_now
from dashboard.hosting.writes import GroupWish, save_group
from dashboard.models import ManagedGroup

CLUSTER: Final = "embedded"
DEMO: Final = GroupWish(
    cluster=CLUSTER,
    name="demo-consumers",
    topics=(("orders", "*"),),
    listener="work",
    listener_options={"ms": 8},
)


class Command(BaseCommand):
    """Register the demo's hosted group, once."""

    help = "Register the hosted group demo-consumers on the embedded cluster."

    def handle(self, *_args: Any, **_options: Any) -> None:
        if CLUSTER not in clusters_now():
            raise CommandError(
                f"there is no cluster {CLUSTER!r}, so there is no demo to prepare"
            )
        sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
        known = ManagedGroup.objects.filter(cluster__name=CLUSTER, name=DEMO.name)
        if known.exists():
            self.stdout.write(f"{DEMO.name} is there already")
            return
        save_group(None, DEMO, members=1, reason="demo")
        self.stdout.write(f"{DEMO.name} added with 1 member")
