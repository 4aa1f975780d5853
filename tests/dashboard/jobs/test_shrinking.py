from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.db.backends.sqlite3.base import DatabaseWrapper

from dashboard.config import environment
from dashboard.jobs.shrinking import MOST_FREE, give_pages_back, make_shrinkable

KEY = "ROCKETSCOPE_DATABASE_URL"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "db.sqlite3"


@pytest.fixture
def connection(path: Path) -> Iterator[Any]:
    given = environment.database(KEY, sqlite_path=path)
    found = DatabaseWrapper(
        connections.configure_settings({"default": given})["default"]
    )
    yield found
    found.close()


def pragma(connection: Any, name: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        return int(cursor.fetchone()[0])


def fill(connection: Any, rows: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (body BLOB)")
        for _ in range(rows):
            cursor.execute("INSERT INTO t VALUES (zeroblob(4000))")


def delete(connection: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM t")


@pytest.mark.django_db
def test_a_new_file_shrinks_to_the_share_that_is_kept(connection: Any) -> None:
    assert make_shrinkable(connection)
    fill(connection, 2_000)
    assert give_pages_back(connection) == 0
    delete(connection)
    full = pragma(connection, "page_count")
    given = give_pages_back(connection)
    left = pragma(connection, "page_count")
    # The file also loses the pages that listed the free ones.
    assert full - left >= given > 1_500
    assert pragma(connection, "freelist_count") <= MOST_FREE * left + 1
    assert give_pages_back(connection) == 0


@pytest.mark.django_db
def test_a_file_of_an_older_version_is_made_over_once(
    connection: Any, path: Path
) -> None:
    fill(connection, 100)
    delete(connection)
    assert give_pages_back(connection) == 0
    assert make_shrinkable(connection)
    assert pragma(connection, "auto_vacuum") == 2
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        assert cursor.fetchone() == ("wal",)
    before = path.stat().st_mtime_ns
    assert make_shrinkable(connection)
    assert path.stat().st_mtime_ns == before


@pytest.mark.django_db
def test_a_file_that_others_use_is_left_for_the_next_start(
    connection: Any, path: Path
) -> None:
    fill(connection, 1)
    connection.cursor().execute("PRAGMA busy_timeout=1")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert not make_shrinkable(connection)
    other.rollback()
    other.close()
    assert make_shrinkable(connection)


@pytest.mark.django_db
def test_the_log_of_writes_is_cut_off(connection: Any) -> None:
    assert pragma(connection, "journal_size_limit") == 64 * 1024 * 1024
