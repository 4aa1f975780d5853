"""`rocketscope restore FILE`: put a backup in the place of what is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from dashboard.backup.errors import BackupError
from dashboard.backup.service import Outcome, restore_backup
from dashboard.management.base import OwnCommand


class Command(OwnCommand):
    """Restore a backup; nothing may be running."""

    help = (
        "Replace the database and the settings by a backup's. Nothing may be running. "
        "What is replaced is saved to a backup of its own first."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a file that `backup` has written")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = restore_backup(options["file"], dotenv=settings.HOME / ".env")
        except BackupError as error:
            raise CommandError(str(error)) from None
        self.stdout.write("\n".join(_told(done)))


def _told(done: Outcome) -> list[str]:
    found = done.description
    lines = [f"restored the backup of {found.made_at}, made by version {found.program}"]
    if done.saved:
        lines.append(f"what was there before is in {done.saved}")
    for each in done.datasets:
        if each.written:
            lines.append(
                f"lake, {each.dataset}: {each.files} files named again, of which "
                f"{each.missing} are no longer there"
            )
        elif each.missing:
            lines.append(f"lake, {each.dataset}: kept its own manifest, which is newer")
    if done.dotenv:
        lines.append(f"the settings of the backup are in {done.dotenv}")
    lines.append("everybody has to sign in again")
    return lines
