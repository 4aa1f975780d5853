"""A database that is migrated and empty, made once where RocketScope is installed.

All migrations on a new file take four seconds of processor time, which is most of what
a first start would take. So `manage.py make_ready`, which the launcher runs after it
has installed something, keeps their result beside the environment, and the first start
copies that. It is named after the migrations; after a change of one of them it is left
alone, and the migrations run. Only SQLite.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import django
from django.core.management import call_command
from django.db.backends.base.base import BaseDatabaseWrapper

from dashboard import migrations

from .shrinking import make_shrinkable

_NAME: Final = "rocketscope-blank-"


def blank_file(folder: Path | None = None) -> Path:
    """Return where the empty database of these migrations is, if it was made."""
    found = hashlib.sha256(django.__version__.encode())
    for path in migrations.__path__:
        for file in sorted(Path(path).glob("*.py")):
            with suppress(OSError):
                found.update(file.name.encode() + file.read_bytes())
    return (folder or Path(sys.prefix)) / f"{_NAME}{found.hexdigest()[:16]}.sqlite3"


def copy_blank(connection: BaseDatabaseWrapper, folder: Path | None = None) -> bool:
    """Begin a database that does not exist with a copy; return whether it did."""
    path = _file_of(connection)
    blank = blank_file(folder)
    if path is None or path.exists() or not blank.is_file():
        return False
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        shutil.copyfile(blank, partial)
        # Not in the place of one that another process has made meanwhile.
        os.link(partial, path)
    except OSError:
        return False
    finally:
        partial.unlink(missing_ok=True)
    return True


def make_blank(connection: BaseDatabaseWrapper, folder: Path | None = None) -> Path:
    """Migrate the new database of this connection and keep a copy of its file."""
    make_shrinkable(connection)
    call_command("migrate", interactive=False, verbosity=0)
    return keep_blank(connection, folder)


def keep_blank(connection: BaseDatabaseWrapper, folder: Path | None = None) -> Path:
    """Keep a copy of a database's file in the place of older ones."""
    source = _file_of(connection)
    if source is None:
        raise ValueError("only SQLite's databases are files")
    connection.close()
    blank = blank_file(folder)
    partial = blank.with_name(f".{blank.name}.{os.getpid()}")
    # A copy of SQLite's own has what is still in the write-ahead log, too.
    with (
        closing(sqlite3.connect(source)) as made,
        closing(sqlite3.connect(partial)) as copy,
    ):
        made.backup(copy)
    for older in blank.parent.glob(f"{_NAME}*.sqlite3"):
        older.unlink()
    partial.replace(blank)
    return blank


def _file_of(connection: BaseDatabaseWrapper) -> Path | None:
    name: Any = connection.settings_dict["NAME"]
    if connection.vendor != "sqlite" or ":memory:" in str(name) or "mode=" in str(name):
        return None
    return Path(name)
