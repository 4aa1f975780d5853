"""The database of a running stack, asked from outside and never written to."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any


def rows_of(var_dir: Path, query: str) -> list[tuple[Any, ...]]:
    """Return what a query finds in the database of the stack that keeps it there."""
    path = var_dir / "rocketscope.sqlite3"
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()
