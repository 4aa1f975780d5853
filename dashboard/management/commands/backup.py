"""`rocketscope backup`: write the database and the settings to one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from dashboard.backup.errors import BackupError
from dashboard.backup.service import make_backup
from dashboard.management.base import OwnCommand


class Command(OwnCommand):
    """Make a backup; everything may be running."""

    help = (
        "Write the database, the settings and the lake's manifests to one file. "
        "Everything may be running."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file",
            nargs="?",
            type=Path,
            help="a file that does not exist yet; default: one named by the time, in "
            "`backups` of the var directory",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            made = make_backup(options["file"])
        except BackupError as error:
            raise CommandError(str(error)) from None
        size = made.stat().st_size / 1_000_000
        self.stdout.write(f"{made} ({size:.1f} MB). It holds secrets: keep it safe.")
