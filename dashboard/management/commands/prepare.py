"""`manage.py prepare`: bring the database to the state that the programs expect.

Safe to run at every start and by several processes one after another: it migrates,
syncs the clusters of the settings and, with `--demo`, registers the demo's group.
"""

from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from dashboard.jobs.shrinking import make_shrinkable


class Command(BaseCommand):
    """Migrate, and prepare the demo if asked to."""

    help = "Migrate the database; with --demo also register the demo's group."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--demo", action="store_true", help="register the demo's hosted group"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        make_shrinkable(connection)
        call_command("migrate", interactive=False, verbosity=0, stdout=self.stdout)
        if options["demo"]:
            call_command("prepare_demo", stdout=self.stdout)
