from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.db.backends.sqlite3.base import DatabaseWrapper

from dashboard import migrations
from dashboard.config import environment
from dashboard.jobs.blank import copy_blank, keep_blank

pytestmark = pytest.mark.django_db

Opened = Callable[[str], Any]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    made = []

    def open_(name: str) -> Any:
        given = environment.database("NO_SUCH_KEY", sqlite_path=tmp_path / name)
        settings = connections.configure_settings({"default": given})["default"]
        made.append(DatabaseWrapper(settings))
        return made[-1]

    yield open_
    for each in made:
        each.close()


def tables(connection: Any) -> list[str]:
    return sorted(connection.introspection.table_names())


@pytest.fixture
def kept(opened: Opened, tmp_path: Path) -> Path:
    source = opened("source.sqlite3")
    with source.cursor() as cursor:
        cursor.execute("CREATE TABLE made (id integer)")
    return keep_blank(source, tmp_path)


def test_a_new_database_begins_with_the_copy(
    kept: Path, opened: Opened, tmp_path: Path
) -> None:
    assert kept.is_file()
    new = opened("new.sqlite3")
    assert copy_blank(new, tmp_path)
    assert tables(new) == ["made"]


def test_a_database_that_exists_is_left_alone(
    kept: Path, opened: Opened, tmp_path: Path
) -> None:
    old = opened("old.sqlite3")
    with old.cursor() as cursor:
        cursor.execute("CREATE TABLE other (id integer)")
    assert not copy_blank(old, tmp_path)
    assert tables(old) == ["other"]


def test_after_a_change_of_migrations_the_copy_is_not_used(
    kept: Path, opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = tmp_path / "migrations"
    changed.mkdir()
    (changed / "0001_other.py").write_text("", "utf-8")
    monkeypatch.setattr(migrations, "__path__", [str(changed)])
    new = opened("new.sqlite3")
    assert not copy_blank(new, tmp_path)
    assert not (tmp_path / "new.sqlite3").exists()
    assert keep_blank(opened("source.sqlite3"), tmp_path) != kept
    assert not kept.exists()
