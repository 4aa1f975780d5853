"""`manage.py make_ready` keeps a database that knows nothing of anybody's settings.

`analytics/test_class_archive.py` looks at the archives that it made at installing.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import call_command

from dashboard.management.commands import make_ready


def test_the_database_is_migrated_and_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCKETSCOPE_CLUSTERS", "prod=10.0.0.5:9876")
    monkeypatch.setenv("ROCKETSCOPE_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/x")
    monkeypatch.setattr(make_ready, "USED", ())
    archived: list[Path] = []
    monkeypatch.setattr(
        make_ready, "make_archives", lambda _java, folder: archived.append(folder)
    )
    call_command("make_ready", folder=tmp_path)
    assert archived == [tmp_path]
    (kept,) = tmp_path.glob("*.sqlite3")
    with closing(sqlite3.connect(kept)) as made:
        tables = {name for (name,) in made.execute("SELECT name FROM sqlite_master")}
        assert {"dashboard_cluster", "dashboard_alert"} <= tables
        assert made.execute("SELECT * FROM dashboard_cluster").fetchall() == []
        assert made.execute("SELECT * FROM dashboard_user").fetchall() == []
