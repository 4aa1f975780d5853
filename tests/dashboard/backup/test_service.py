"""Backups made and restored by the commands, on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import psycopg
import pytest

from dashboard.config.settings import ROOT
from tests.dashboard.backup.test_archive import members, repack
from tests.support.forked import managed
from tests.support.postgresql import running_server

pytestmark = pytest.mark.embedded

SQLITE: Final = "rocketscope.sqlite3"
MIGRATIONS: Final = ROOT / "dashboard" / "migrations"


@dataclass(slots=True)
class Installation:
    """One var directory and its database, reached as a terminal reaches them."""

    var_dir: Path
    url: str = ""

    def manage(self, *arguments: str, fails: bool = False, **more: str) -> str:
        """Run a command; return what it says, on stderr if it fails."""
        done = managed(self._variables | more, *arguments)
        assert bool(done.code) == fails, done.err
        return done.err if fails else done.out

    def type(self, *arguments: str) -> str:
        """Run a command in a Python of its own; return what it says."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env={**os.environ, **self._variables},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def _variables(self) -> dict[str, str]:
        return {
            "ROCKETSCOPE_DATABASE_URL": self.url,
            "ROCKETSCOPE_VAR_DIR": str(self.var_dir),
        }

    def execute(self, query: str) -> list[tuple[Any, ...]]:
        if self.url:
            with psycopg.connect(self.url) as connection:
                cursor = connection.execute(query)
                return cursor.fetchall() if cursor.description else []
        connection = sqlite3.connect(self.var_dir / SQLITE)
        try:
            with connection:
                return connection.execute(query).fetchall()
        finally:
            connection.close()

    def attach(self, name: str) -> None:
        self.execute(
            "INSERT INTO dashboard_cluster "
            "(name, name_servers, embedded, configured, added_at) "
            f"VALUES ('{name}', '[]', false, true, CURRENT_TIMESTAMP)"
        )

    @property
    def attached(self) -> list[str]:
        found = self.execute("SELECT name FROM dashboard_cluster ORDER BY name")
        return [name for (name,) in found]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def prepared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """An installation that is only copied: to migrate takes seconds."""
    var_dir = tmp_path_factory.mktemp("prepared") / "var"
    if request.param == "sqlite":
        made = Installation(var_dir)
        made.manage("prepare")
        yield made
        return
    with running_server() as url:
        made = Installation(var_dir, url)
        made.manage("prepare")
        yield made


@pytest.fixture
def here(prepared: Installation, tmp_path: Path) -> Installation:
    shutil.copytree(prepared.var_dir, tmp_path / "var")
    found = Installation(tmp_path / "var", prepared.url)
    if prepared.url:
        template = urlsplit(prepared.url).path[1:]
        server = prepared.url.removesuffix(template)
        with psycopg.connect(f"{server}postgres", autocommit=True) as connection:
            connection.execute("DROP DATABASE IF EXISTS another")
            connection.execute(f"CREATE DATABASE another TEMPLATE {template}")
        found.url = f"{server}another"
    found.attach("ada")
    return found


@pytest.fixture
def only_sqlite(here: Installation) -> Installation:
    if here.url:
        pytest.skip("the same on every database")
    return here


def test_a_backup_brings_back_what_was_there(
    here: Installation, tmp_path: Path
) -> None:
    here.execute(
        "INSERT INTO dashboard_session (session_key, session_data, expire_date, "
        "last_seen_at, address, browser) VALUES ('key', 'of eve', '2100-01-01', "
        "'2100-01-01', '', '')"
    )
    key = (here.var_dir / "secret_key").read_bytes()
    kept = str(tmp_path / "kept.tar.gz")
    # Once as it is typed, without a fork.
    assert "It holds secrets" in here.type("backup", kept)
    here.attach("eve")
    (here.var_dir / "secret_key").write_text("another " * 8)
    told = here.type("restore", kept)
    assert here.attached == ["ada"]
    # A session that was ended since must not come back.
    assert here.execute("SELECT count(*) FROM dashboard_session") == [(0,)]
    assert (here.var_dir / "secret_key").read_bytes() == key
    (line,) = (each for each in told.splitlines() if "was there before" in each)
    here.manage("restore", line.rpartition(" ")[2])
    assert here.attached == ["ada", "eve"]


def test_an_upgrade_can_go_back(here: Installation) -> None:
    # SQLite, which writes tables anew, goes through many of them with rows; for
    # PostgreSQL one is enough.
    names = sorted(path.stem for path in MIGRATIONS.glob("0*.py"))
    earlier, later = names[-2:] if here.url else names[14:16]
    here.manage("migrate", "dashboard", earlier, "--verbosity", "0")
    told = here.manage("prepare")
    assert "the database before the upgrade is in" in told
    here.attach("eve")
    here.manage("restore", told.split()[-1])
    migrations = f"SELECT count(*) FROM django_migrations WHERE name = '{later}'"
    assert here.execute(migrations) == [(0,)]
    here.manage("prepare")
    assert here.execute(migrations) == [(1,)]
    assert here.attached == ["ada"]
    # Nothing was left to upgrade.
    assert here.manage("prepare") == ""


def test_what_does_not_fit_is_refused(
    only_sqlite: Installation, tmp_path: Path
) -> None:
    here, kept = only_sqlite, tmp_path / "kept.tar.gz"
    here.manage("backup", str(kept))
    found = members(kept)
    described = found["backup.json"]
    refused = {
        "holds a database of postgresql": described.replace(b"sqlite", b"postgresql"),
        "newer than this one: its database has dashboard.9016_": described.replace(
            b'"0016_', b'"9016_'
        ),
    }
    for words, told in refused.items():
        repack(kept, found | {"backup.json": told})
        assert words in here.manage("restore", str(kept), fails=True)
    repack(kept, found)
    with (here.var_dir / "supervisor.lock").open("w") as lock:
        lock.write("process 7, http://127.0.0.1:8300/")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        words = here.manage("restore", str(kept), fails=True)
    assert "(process 7, http://127.0.0.1:8300/); stop it before restoring" in words
    assert here.attached == ["ada"]


def test_a_damaged_database_is_put_aside(
    only_sqlite: Installation, tmp_path: Path
) -> None:
    here, kept = only_sqlite, str(tmp_path / "kept.tar.gz")
    here.manage("backup", kept)
    path = here.var_dir / SQLITE
    here.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    damaged = b"not a database, " * 4096
    path.write_bytes(damaged)
    assert "damaged-" in here.manage("restore", kept)
    assert here.attached == ["ada"]
    (aside,) = (here.var_dir / "backups").glob("damaged-*.sqlite3")
    assert aside.read_bytes() == damaged
    path.write_bytes(damaged)
    assert "cannot be copied" in here.manage("backup", fails=True)


def test_what_nobody_asked_for_does_not_pile_up(
    only_sqlite: Installation, tmp_path: Path
) -> None:
    here, backups = only_sqlite, only_sqlite.var_dir / "backups"
    kept = tmp_path / "kept.tar.gz"
    here.manage("backup", str(kept))
    backups.mkdir()
    old = [f"before-restore-2020010{day}T000000000000Z.tar.gz" for day in range(1, 7)]
    asked_for = ("backup-20200101T000000000000Z.tar.gz", "before-restore-mine.txt")
    for name in (*old, *asked_for):
        shutil.copyfile(kept, backups / name)
    for day in range(1, 7):
        for beside in ("", "-wal"):
            (backups / f"damaged-2020010{day}T0.sqlite3{beside}").touch()
    left, busy = backups / ".rs-killed", backups / ".rs-busy"
    for folder in (left, busy):
        folder.mkdir()
        (folder / "copy").touch()
    os.utime(left, (0, 0))

    here.manage("restore", str(backups / old[0]))
    # The one that was restored stays, however old it is.
    found = sorted(path.name for path in backups.glob("before-restore-*.tar.gz"))
    assert [name for name in found if name in old] == [old[0], *old[2:]]
    assert len(found) == 6
    here.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (here.var_dir / SQLITE).write_bytes(b"not a database, " * 4096)
    here.manage("restore", str(kept))
    damaged = sorted(path.name for path in backups.glob("damaged-*.sqlite3"))
    assert damaged[:4] == [f"damaged-2020010{day}T0.sqlite3" for day in range(3, 7)]
    assert len(damaged) == 5
    assert len(list(backups.glob("damaged-2020*-wal"))) == 4
    assert all((backups / name).exists() for name in asked_for)
    assert (busy.exists(), left.exists()) == (True, False)
    assert not list(backups.rglob("*.tmp"))


def test_whoever_uses_postgresql_is_not_disturbed(
    here: Installation, tmp_path: Path
) -> None:
    if not here.url:
        pytest.skip("SQLite has no list of who uses it")
    kept = str(tmp_path / "kept.tar.gz")
    here.manage("backup", kept)
    with psycopg.connect(here.url):
        words = here.manage("restore", kept, fails=True)
    assert "1 other connections use the database" in words


def test_a_password_stands_on_no_command_line(
    here: Installation, tmp_path: Path
) -> None:
    if not here.url:
        pytest.skip("SQLite has no password")
    stand_in = tmp_path / "bin" / "pg_dump"
    stand_in.parent.mkdir()
    # Tells what it was given, in the place of the real one.
    stand_in.write_text('#!/bin/sh\necho "given: $*" >&2\nexit 3\n')
    stand_in.chmod(0o755)
    here.url = here.url.replace("@", ":open%20sesame@", 1)
    path = f"{stand_in.parent}:{os.environ['PATH']}"
    words = here.manage("backup", fails=True, PATH=path)
    assert "pg_dump ended with exit code 3: given: --format=custom" in words
    assert "sesame" not in words
