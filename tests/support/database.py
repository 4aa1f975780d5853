"""The database of a running stack, asked from outside and never written to."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any, Final, cast

import psycopg
from psycopg.types.string import TextLoader

_AS_TEXT: Final = ("json", "jsonb", "timestamptz")


def rows_of(database: Path | str, query: str) -> list[tuple[Any, ...]]:
    """Return what a query finds: in the stack that keeps SQLite there, or at a URL.

    Times and JSON are text, whichever database it is.
    """
    if isinstance(database, str):
        return _rows_at(database, query)
    path = database / "rocketscope.sqlite3"
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def _rows_at(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, connect_timeout=10, options="-c timezone=UTC") as asked:
        for name in _AS_TEXT:
            asked.adapters.register_loader(name, TextLoader)
        return asked.execute(cast("Any", query)).fetchall()
