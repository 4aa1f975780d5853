"""`manage.py prepare_demo`: register the groups that the demo watches.

Adds hosted groups on the embedded cluster: one that keeps up, one whose only member is
too slow, so that its lag falls when another is added, and an orderly one, where no
member more would help with a hot queue. Running it again keeps any later changes, and
restores a group that was removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.present import clusters_now
from dashboard.hosting.writes import GroupWish, save_group
from dashboard.management.base import OwnCommand
from dashboard.models import ManagedGroup

CLUSTER: Final = "embedded"
DEMO: Final[Sequence[tuple[GroupWish, int]]] = (
    (
        GroupWish(
            cluster=CLUSTER,
            name="demo-consumers",
            topics=(("orders", "*"),),
            listener="work",
            listener_options={"ms": 8},
        ),
        1,
    ),
    (
        # Twenty threads at 440 ms are 45 messages a second, of the 60 that come.
        GroupWish(
            cluster=CLUSTER,
            name="demo-slow",
            topics=(("orders", "*"),),
            listener="work",
            listener_options={"ms": 440},
        ),
        1,
    ),
    (
        # One queue takes ten messages a second at most, and the hot one gets 15.
        GroupWish(
            cluster=CLUSTER,
            name="demo-orderly",
            topics=(("payments", "*"),),
            orderly=True,
            listener="work",
            listener_options={"ms": 100},
        ),
        2,
    ),
)
"""Each group, and with how many members it begins."""


class Command(OwnCommand):
    """Register the demo's hosted groups, each once."""

    help = "Register the demo's hosted groups on the embedded cluster."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--only",
            choices=[wish.name for wish, _members in DEMO],
            help="register one group of the demo instead of all",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if CLUSTER not in clusters_now():
            raise CommandError(
                f"there is no cluster {CLUSTER!r}, so there is no demo to prepare"
            )
        sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
        for wish, members in DEMO:
            if options["only"] in (None, wish.name):
                self._register(wish, members)

    def _register(self, wish: GroupWish, members: int) -> None:
        known = ManagedGroup.objects.filter(cluster__name=CLUSTER, name=wish.name)
        if known.exists():
            self.stdout.write(f"{wish.name} is there already")
            return
        save_group(None, wish, members=members, reason="demo")
        plural = "member" if members == 1 else "members"
        self.stdout.write(f"{wish.name} added with {members} {plural}")
