"""`manage.py prepare`: bring the database to the state that the programs expect.

Safe to run at every start and by several processes one after another: it migrates what
is not migrated (a new database of SQLite is copied, see `jobs.blank`),
forgets an embedded cluster that an earlier run had started on request and, with
`--demo`, registers the demo's groups. Before migrations change a database that
is in use, it makes a backup, with which the earlier version of the program can go back.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser
from django.core.management.sql import emit_post_migrate_signal
from django.db import connection

from dashboard.backup.errors import BackupError
from dashboard.backup.service import backup_before_upgrade, unapplied
from dashboard.gateway.clusters import forget_embedded
from dashboard.jobs.blank import copy_blank
from dashboard.jobs.shrinking import make_shrinkable
from dashboard.management.base import OwnCommand


class Command(OwnCommand):
    """Migrate, and prepare the demo if asked to."""

    help = "Migrate the database; with --demo also register the demo's groups."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--demo", action="store_true", help="register the demo's hosted groups"
        )
        parser.add_argument(
            "--no-backup",
            action="store_true",
            help="migrate without making a backup first",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        copy_blank(connection)
        if not options["no_backup"]:
            self._back_up()
        make_shrinkable(connection)
        if unapplied():
            call_command("migrate", interactive=False, verbosity=0, stdout=self.stdout)
        else:
            # The clusters of the settings, and what else follows migrations.
            emit_post_migrate_signal(0, interactive=False, db=connection.alias)
        forget_embedded()
        if options["demo"]:
            call_command("prepare_demo", stdout=self.stdout)

    def _back_up(self) -> None:
        try:
            made = backup_before_upgrade()
        except BackupError as error:
            raise CommandError(
                f"no backup could be made before the upgrade: {error}. To upgrade "
                f"without one: {settings.COMMAND} manage prepare "
                "--no-backup"
            ) from None
        if made:
            self.stdout.write(f"the database before the upgrade is in {made}")
