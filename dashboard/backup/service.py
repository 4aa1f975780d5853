"""Make a backup while everything runs, and restore one while nothing does."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader

from analytics.errors import LakeError
from analytics.lake.storage import Storage, open_storage

from .archive import Description, read_archive, write_archive
from .database import (
    applied_migrations,
    copy_database,
    put_aside,
    restore_database,
)
from .errors import BackupError
from .manifests import Restored, copy_manifests, restore_manifests

SECRET_KEY: Final = "secret_key"  # noqa: S105  the name of a file
DOTENV: Final = "env"
"""Names of the settings' files in a backup."""

KEPT: Final = 5
"""How many backups of each kind that the program makes are kept."""

_BEFORE_UPGRADE: Final = "before-upgrade-"
_BEFORE_RESTORE: Final = "before-restore-"
_DAMAGED: Final = "damaged-"
_STAGED: Final = ".rs-"
_LEFT_SECONDS: Final = 24 * 3600
"""The age at which a folder for making a backup counts as left behind."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a restore did."""

    description: Description
    saved: Path | None
    """The backup of what was replaced; None if the database was empty."""
    datasets: Sequence[Restored]
    dotenv: Path | None
    """Where the backup's `.env` was put; None if there is nothing to compare."""


def folder_of_backups() -> Path:
    """Return the folder of backups that were given no place."""
    return Path(settings.ROCKETSCOPE_VAR_DIR) / "backups"


def make_backup(
    target: Path | None = None, *, prefix: str = "backup-", lake: bool = True
) -> Path:
    """Write a backup and return its path; a named target must not exist.

    Without the lake, its manifests are left out, and it need not be reachable.
    """
    if target is None:
        now = datetime.now(UTC)
        target = folder_of_backups() / f"{prefix}{now:%Y%m%dT%H%M%S%fZ}.tar.gz"
    target = target.absolute()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _staged(target.parent) as folder:
            description = _fill(folder, lake=lake)
            write_archive(target, description, folder)
    except OSError as error:
        raise BackupError(f"{target} cannot be written: {error}") from error
    except LakeError as error:
        raise BackupError(f"the lake's manifests cannot be read: {error}") from error
    return target


def backup_before_upgrade() -> Path | None:
    """Make a backup if migrations are about to change data; None if there is none."""
    if not applied_migrations() or not unapplied():
        return None
    made = make_backup(prefix=_BEFORE_UPGRADE, lake=False)
    _remove_older(_BEFORE_UPGRADE)
    return made


def restore_backup(source: Path, *, dotenv: Path) -> Outcome:
    """Replace the database and the settings' files by a backup's.

    What is replaced is saved first. Everybody has to sign in again. `dotenv` is the
    path of this installation's `.env`, which is not replaced if it differs.
    """
    _refuse_running()
    var_dir = Path(settings.ROCKETSCOPE_VAR_DIR)
    with _staged(var_dir) as folder:
        description = read_archive(source, folder)
        _check(source, description)
        saved = _save_present(source)
        restore_database(folder)
        _replace_key(folder, var_dir)
        put = _put_dotenv(folder, dotenv)
        try:
            datasets = restore_manifests(_lake(), folder)
        except (LakeError, OSError) as error:
            raise BackupError(
                "the database and the settings are restored, the lake's manifests are "
                f"not: {error}"
            ) from error
        return Outcome(description, saved, datasets, put)


def _save_present(source: Path) -> Path | None:
    """Save what is about to be replaced; never delete `source`, however old it is."""
    try:
        made = (
            make_backup(prefix=_BEFORE_RESTORE, lake=False)
            if applied_migrations()
            else None
        )
    except (BackupError, DatabaseError):
        # A damaged database cannot be copied, and is a reason to restore a backup.
        if connection.vendor != "sqlite":
            raise
    else:
        _remove_older(_BEFORE_RESTORE, but=source)
        return made
    now = datetime.now(UTC)
    aside = put_aside(folder_of_backups() / f"{_DAMAGED}{now:%Y%m%dT%H%M%S%fZ}.sqlite3")
    _remove_older(_DAMAGED, ".sqlite3")
    return aside


def _remove_older(
    prefix: str, suffix: str = ".tar.gz", but: Path | None = None
) -> None:
    """Keep the newest `KEPT` files of a kind, by their names' times, and `but`."""
    folder = folder_of_backups()
    for old in sorted(folder.glob(f"{prefix}*{suffix}"))[:-KEPT]:
        if but is None or not old.samefile(but):
            # SQLite has up to two more files beside its own.
            for each in folder.glob(f"{old.name}*"):
                each.unlink()


@contextmanager
def _staged(parent: Path) -> Iterator[Path]:
    """Yield a folder for making a backup; remove those that killed processes left."""
    for left in parent.glob(f"{_STAGED}*"):
        if left.is_dir() and time.time() - left.stat().st_mtime > _LEFT_SECONDS:
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_STAGED, dir=parent) as folder:
        yield Path(folder)


def _fill(folder: Path, *, lake: bool) -> Description:
    copy_database(folder)
    if lake:
        copy_manifests(_lake(), folder)
    key = Path(settings.ROCKETSCOPE_VAR_DIR) / SECRET_KEY
    for name, path in ((SECRET_KEY, key), (DOTENV, settings.HOME / ".env")):
        if path.is_file():
            (folder / name).write_bytes(path.read_bytes())
    return Description(
        program=settings.VERSION,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        database=connection.vendor,
        migrations=tuple(applied_migrations()),
        lake_url=settings.ROCKETSCOPE_LAKE_URL,
    )


def _lake() -> Storage:
    return open_storage(settings.ROCKETSCOPE_LAKE_URL)


def unapplied() -> bool:
    loader = MigrationLoader(connection)
    return bool(set(loader.disk_migrations) - set(loader.applied_migrations))


def _check(source: Path, description: Description) -> None:
    if description.database != connection.vendor:
        raise BackupError(
            f"{source} holds a database of {description.database}, but "
            f"ROCKETSCOPE_DATABASE_URL names one of {connection.vendor}"
        )
    known = set(MigrationLoader(None).disk_migrations)
    newer = sorted(set(description.migrations) - known)
    if newer:
        app, name = newer[-1]
        raise BackupError(
            f"{source} was made by version {description.program}, which is newer than "
            f"this one: its database has {app}.{name}. Restore it with that version."
        )


def _refuse_running() -> None:
    """Refuse while `./rocketscope up` runs from the var directory."""
    path = Path(settings.ROCKETSCOPE_VAR_DIR) / "supervisor.lock"
    if not path.exists():
        return
    with path.open("r+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BackupError(
                f"RocketScope runs from {path.parent} ({lock.read().strip()}); stop it "
                "before restoring"
            ) from None


def _replace_key(folder: Path, var_dir: Path) -> None:
    """Put back the key that signs links, unless it comes from a setting."""
    kept = folder / SECRET_KEY
    if kept.exists():
        half = var_dir / f".{SECRET_KEY}.tmp"
        half.write_bytes(kept.read_bytes())
        half.chmod(0o600)
        half.replace(var_dir / SECRET_KEY)


def _put_dotenv(folder: Path, dotenv: Path) -> Path | None:
    kept = folder / DOTENV
    if not kept.exists() or (
        dotenv.exists() and dotenv.read_bytes() == kept.read_bytes()
    ):
        return None
    target = dotenv.with_name(".env.restored") if dotenv.exists() else dotenv
    target.write_bytes(kept.read_bytes())
    target.chmod(0o600)
    return target
