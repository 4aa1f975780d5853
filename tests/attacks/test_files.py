"""What another user of the same machine could read."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.supervisor.run import _make_private

ROOT = Path(__file__).parents[2]


def modes(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode)
        for path in [folder, *folder.rglob("*")]
    }


def prepare(var_dir: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "prepare"],
        cwd=ROOT,
        env={**os.environ, "ROCKETSCOPE_VAR_DIR": str(var_dir), **settings},
        capture_output=True,
        text=True,
        check=False,
        umask=0o022,
    )


def test_database_and_keys_are_for_their_owner_alone(tmp_path: Path) -> None:
    var_dir = tmp_path / "var"
    assert prepare(var_dir).returncode == 0
    found = modes(var_dir)
    assert "rocketscope.sqlite3" in found
    assert {name for name, mode in found.items() if mode & 0o077} == set()


def test_a_group_may_be_let_in_by_a_setting(tmp_path: Path) -> None:
    var_dir = tmp_path / "var"
    assert prepare(var_dir, ROCKETSCOPE_UMASK="027").returncode == 0
    found = modes(var_dir)
    assert found["rocketscope.sqlite3"] == 0o640
    assert found["secret_key"] == 0o600


@pytest.mark.parametrize("mask", ["0", "88", "0o77", "7777", "-77"])
def test_a_mask_that_cannot_be_read_stops_the_start(tmp_path: Path, mask: str) -> None:
    done = prepare(tmp_path / "var", ROCKETSCOPE_UMASK=mask)
    assert done.returncode != 0
    assert f"ROCKETSCOPE_UMASK='{mask}'" in done.stderr


def test_a_directory_of_an_older_version_is_closed(tmp_path: Path) -> None:
    ours, others = tmp_path / "ours", tmp_path / "others"
    for folder in (ours, others):
        folder.mkdir()
        folder.chmod(0o755)
    (ours / "secret_key").touch()
    _make_private(ours)
    _make_private(others)
    assert stat.S_IMODE(ours.stat().st_mode) == 0o700
    assert stat.S_IMODE(others.stat().st_mode) == 0o755
