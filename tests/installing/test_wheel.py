"""The wheel has every file that the program reads, and nothing else."""

from __future__ import annotations

import subprocess
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Final

from django.conf import settings

from tests.support.launched import ROOT
from tests.support.wheel import build

PACKAGES: Final = ("analytics", "dashboard", "rmqcore")
MAPPED: Final = ("deploy", "static", "templates")


def files_of(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    return {name for name in names if ".dist-info/" not in name}


def tracked() -> set[str]:
    """Return what the repository has in these folders, also what is not yet added."""
    done = subprocess.run(
        [
            *("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
            *("--", *PACKAGES, *MAPPED),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = {name for name in done.stdout.split("\0") if (ROOT / name).is_file()}
    assert len(names) > 1000
    return names


def test_the_wheel_has_every_file_and_no_other(wheel: Path) -> None:
    wanted = {
        f"rocketscope/{name}" if name.startswith(MAPPED) else name for name in tracked()
    }
    assert files_of(wheel) == wanted


def test_what_is_not_python_has_the_same_bytes(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in files_of(wheel):
            source = ROOT / name.removeprefix("rocketscope/")
            assert archive.read(name) == source.read_bytes(), name


def test_an_archive_of_the_sources_makes_the_same_wheel(
    wheel: Path, tmp_path: Path
) -> None:
    with tarfile.open(build(tmp_path / "sdist", "sdist")) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.glob("rocketscope-*")
    assert files_of(build(tmp_path / "wheel", source=source)) == files_of(wheel)


def test_the_wheel_says_what_the_project_says(wheel: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith("/METADATA"))
        said = Parser().parsestr(archive.read(name).decode())
    assert said["Version"] == project["version"] == settings.VERSION
    assert said["Requires-Python"] == project["requires-python"]
    extras = project["optional-dependencies"]
    needed = said.get_all("Requires-Dist")
    plain = [each for each in needed if "extra ==" not in each]
    assert len(plain) == len(project["dependencies"])
    assert len(needed) - len(plain) == sum(map(len, extras.values()))
    assert set(said.get_all("Provides-Extra")) == extras.keys()


def test_the_backend_is_the_one_that_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (backend,) = project["build-system"]["requires"]
    assert backend in project["dependency-groups"]["dev"]
