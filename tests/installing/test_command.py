"""The command that the wheel brings, away from any clone."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.support.wheel import Installation

WHERE = """
import importlib, sys
for name in ("analytics", "dashboard", "rmqcore", "django", "pyspark"):
    print(importlib.import_module(name).__file__)
"""
# Its import would be a syntax error: nothing may look for modules where one stands.
TRAP = "this is no Python"


@pytest.fixture(autouse=True)
def traps(installed: Installation) -> None:
    """Put modules of the names of ours into the folder where commands are typed."""
    for name in ("dashboard", "analytics", "rmqcore", "celery"):
        (installed.elsewhere / f"{name}.py").write_text(TRAP, "utf-8")


def test_our_packages_are_the_wheels(installed: Installation) -> None:
    done = installed.run("python", "-P", "-c", WHERE)
    assert done.returncode == 0, done.stderr
    found = [Path(line) for line in done.stdout.splitlines()]
    ours = [path.is_relative_to(installed.packages) for path in found]
    assert ours == [True, True, True, False, False]


def test_setup_says_where_everything_is(installed: Installation) -> None:
    done = installed.run("setup")
    assert done.returncode == 0, done.stderr
    said = dict(line.rsplit(maxsplit=1) for line in done.stdout.splitlines())
    assert said["state"] == str(installed.state / "var")
    assert said["settings"] == str(installed.state / ".env")
    assert Path(said["files for servers"], "systemd").is_dir()


def test_the_state_may_be_elsewhere(installed: Installation, tmp_path: Path) -> None:
    done = installed.run("setup", env={"XDG_STATE_HOME": str(tmp_path)})
    assert str(tmp_path / "rocketscope" / "var") in done.stdout


def test_settings_are_read_from_the_file(
    installed: Installation, tmp_path: Path
) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path)}
    kept = tmp_path / "rocketscope" / ".env"
    kept.parent.mkdir()
    kept.write_text(f"ROCKETSCOPE_VAR_DIR={tmp_path / 'other'}\n", "utf-8")
    done = installed.run("setup", env=env)
    assert str(tmp_path / "other") in done.stdout
    kept.write_text("half a line\n", "utf-8")
    done = installed.run("setup", env=env)
    assert done.returncode == 1
    assert done.stderr == ("rocketscope: .env, line 1 is not of the form KEY=VALUE\n")


def test_a_backup_is_made_and_restored(installed: Installation, tmp_path: Path) -> None:
    env = {"ROCKETSCOPE_VAR_DIR": str(tmp_path / "var")}
    prepared = installed.run("manage", "prepare", env=env)
    assert prepared.returncode == 0, prepared.stderr
    made = installed.run("backup", env=env)
    assert made.returncode == 0, made.stderr
    (archive,) = (tmp_path / "var" / "backups").glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        assert packed.getnames()
    restored = installed.run("restore", str(archive), env=env)
    assert restored.returncode == 0, restored.stderr
    assert "restored the backup" in restored.stdout


@pytest.mark.parametrize(
    ("command", "usage"),
    [(("restore",), "restore"), (("manage", "prepare"), "manage prepare")],
)
def test_help_is_about_what_was_typed(
    installed: Installation, command: tuple[str, ...], usage: str
) -> None:
    done = installed.run(*command, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: rocketscope {usage} [-h]")


def test_an_unknown_command_is_a_sentence(installed: Installation) -> None:
    done = installed.run("start")
    assert done.returncode == 1
    assert done.stderr.startswith(
        "rocketscope: unknown command 'start': use one of up,"
    )


@pytest.mark.parametrize(("arguments", "code"), [(["help"], 0), ([], 2)])
def test_help_names_the_commands(
    installed: Installation, arguments: list[str], code: int
) -> None:
    done = installed.run(*arguments)
    assert done.returncode == code
    assert "rocketscope up " in done.stdout
    assert "clone" not in done.stdout


def test_a_home_that_cannot_be_written_is_a_sentence(
    installed: Installation, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", "utf-8")
    done = installed.run("up", env={"XDG_STATE_HOME": str(blocked)})
    assert done.returncode == 1
    assert (
        done.stderr == f"rocketscope: {blocked}/rocketscope cannot be used "
        "(Not a directory)\n"
    )
