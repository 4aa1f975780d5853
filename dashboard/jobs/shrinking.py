"""Give pages that SQLite no longer uses back to the file system.

SQLite keeps the pages of deleted rows in its file, for later rows. Most should stay,
because the next rows need them. When more than `MOST_FREE` of the file is free, as
after the days of a setting were lowered, the rest is given back a few pages at a time
(`incremental_vacuum`): a VACUUM would lock out every writer while it copies the file.

This needs a file that was made for it. `make_shrinkable` does so before the first table
is created, and once for a file that an older version made, by a VACUUM. PostgreSQL does
all this by itself.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

logger = logging.getLogger(__name__)

MOST_FREE: Final = 0.25
"""The share of the file that is kept free for later rows."""
PAGES_AT_ONCE: Final = 500
_INCREMENTAL: Final = 2


def make_shrinkable(connection: BaseDatabaseWrapper) -> bool:
    """Prepare SQLite's file; False if that is impossible now, as on a full disk."""
    if connection.vendor != "sqlite" or _ask(connection, "auto_vacuum") == _INCREMENTAL:
        return True
    try:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA auto_vacuum=INCREMENTAL")
            cursor.execute("VACUUM")
    except OperationalError as error:
        logger.warning("the database's file cannot shrink yet: %s", error)
        return False
    return True


def give_pages_back(connection: BaseDatabaseWrapper) -> int:
    """Shrink SQLite's file to the share that is kept free; return the pages freed."""
    if connection.vendor != "sqlite" or _ask(connection, "auto_vacuum") != _INCREMENTAL:
        return 0
    given = 0
    while True:
        free = _ask(connection, "freelist_count")
        surplus = int(free - MOST_FREE * _ask(connection, "page_count"))
        if surplus <= 0:
            return given
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA incremental_vacuum({min(surplus, PAGES_AT_ONCE)})")
            # It frees one page with each row that is fetched.
            cursor.fetchall()
        left = _ask(connection, "freelist_count")
        if left >= free:
            return given
        given += free - left


def _ask(connection: BaseDatabaseWrapper, pragma: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {pragma}")
        row: tuple[Any, ...] = cursor.fetchone()
    return int(row[0])
