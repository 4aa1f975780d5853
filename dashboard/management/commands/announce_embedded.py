"""`manage.py announce_embedded ADDRESS`: the embedded cluster was started on request.

Puts the address of its name server into the database, where every process finds it, and
registers the demo's groups.
"""

from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandParser

from dashboard.gateway.clusters import announce_embedded
from dashboard.management.base import OwnCommand


class Command(OwnCommand):
    """Let every process know of the embedded cluster."""

    help = "Tell all processes the address of the embedded cluster, once it runs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("address", help="its name server, host:port")

    def handle(self, *_args: Any, **options: Any) -> None:
        announce_embedded([options["address"]])
        call_command("prepare_demo", stdout=self.stdout)
