"""Copies of the database, made while it is in use, and put back while it is not.

SQLite is copied by its online backup, PostgreSQL by `pg_dump` and `pg_restore`, which
come with PostgreSQL. They get their parameters in a service file, so no password is on
a command line.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from .errors import BackupError

COPY: Final = "database"
"""The copy's name in a backup."""

_NOT_RESTORED: Final = ("dashboard_session", "django_session", "dashboard_signinlink")
"""Tables that let people in: sessions ended since the backup must stay ended."""


def applied_migrations() -> list[tuple[str, str]]:
    """Return app and name of each migration that the database has; none when empty."""
    return sorted(MigrationRecorder(connection).applied_migrations())


def copy_database(folder: Path) -> None:
    """Write a copy of the state of one moment into a folder."""
    target = folder / COPY
    if connection.vendor == "postgresql":
        _postgresql(
            "pg_dump", "--format=custom", "--no-owner", "--no-acl", f"--file={target}"
        )
        return
    try:
        with (
            contextlib.closing(sqlite3.connect(_sqlite_path())) as source,
            contextlib.closing(sqlite3.connect(target)) as copy,
        ):
            source.backup(copy)
            # One file, with nothing beside it.
            copy.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.DatabaseError as error:
        raise BackupError(f"the database cannot be copied: {error}") from error
    _check_sqlite(target)


def restore_database(folder: Path) -> None:
    """Replace the database by a copy; nobody may be using it."""
    copy = folder / COPY
    if connection.vendor == "postgresql":
        _refuse_company()
        _drop_tables()
        _postgresql(
            *("pg_restore", "--no-owner", "--no-acl", "--exit-on-error"),
            *("--single-transaction", "--dbname=service=rocketscope", str(copy)),
        )
    else:
        _check_sqlite(copy)
        connection.close()
        path = _sqlite_path()
        half = path.with_name(f".{path.name}.tmp")
        shutil.copyfile(copy, half)
        for beside in ("-wal", "-shm"):
            path.with_name(path.name + beside).unlink(missing_ok=True)
        half.replace(path)
    _end_sessions()


def put_aside(target: Path) -> Path:
    """Give SQLite's file, as damaged as it may be, another name, and return that."""
    connection.close()
    path = _sqlite_path()
    target.parent.mkdir(parents=True, exist_ok=True)
    for beside in ("-wal", "-shm", ""):
        present = path.with_name(path.name + beside)
        if present.exists():
            present.replace(target.with_name(target.name + beside))
    return target


def _end_sessions() -> None:
    present = connection.introspection.table_names()
    with connection.cursor() as cursor:
        for table in _NOT_RESTORED:
            if table in present:
                cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")  # noqa: S608  our own names


def _sqlite_path() -> Path:
    return Path(connection.settings_dict["NAME"])


def _check_sqlite(path: Path) -> None:
    try:
        with contextlib.closing(sqlite3.connect(path)) as copy:
            (found,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        found = str(error)
    if found != "ok":
        raise BackupError(f"the copy of the database is damaged: {found}")


def _refuse_company() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        (others,) = cursor.fetchone()
    if others:
        raise BackupError(
            f"{others} other connections use the database; stop all processes of "
            "RocketScope first"
        )


def _drop_tables() -> None:
    """Drop all tables: those of newer versions would be in a later upgrade's way."""
    with connection.cursor() as cursor:
        for name in connection.introspection.table_names(cursor):
            cursor.execute(f"DROP TABLE {connection.ops.quote_name(name)} CASCADE")
    connection.close()


def _postgresql(program: str, *arguments: str) -> None:
    if shutil.which(program) is None:
        raise BackupError(
            f"{program} was not found: it comes with PostgreSQL's client programs "
            "(Debian: postgresql-client)"
        )
    with _service_file() as path:
        done = subprocess.run(  # noqa: S603  our own arguments
            [program, *arguments],
            env={**os.environ, "PGSERVICEFILE": str(path), "PGSERVICE": "rocketscope"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        reason = done.stderr.strip().splitlines() or ["it said nothing"]
        raise BackupError(
            f"{program} ended with exit code {done.returncode}: {reason[-1]}"
        )


@contextlib.contextmanager
def _service_file() -> Iterator[Path]:
    """Write the connection's parameters where the client programs look for them."""
    given = connection.settings_dict
    parameters = {
        "dbname": given["NAME"],
        "user": given["USER"],
        "password": given["PASSWORD"],
        "host": given["HOST"],
        "port": given["PORT"],
        **{
            name: value
            for name, value in given["OPTIONS"].items()
            if isinstance(value, str)
        },
    }
    lines = ["[rocketscope]", *(f"{n}={v}" for n, v in parameters.items() if v)]
    with tempfile.TemporaryDirectory(prefix="rocketscope-") as folder:
        path = Path(folder) / "service.conf"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        yield path
