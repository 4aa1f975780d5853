"""The wheel, built and installed without network, in an environment of its own.

The environment has our wheel, and sees the packages of others that the tests' own
environment has. That one has no copy of ours: clones are run where they are.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .launched import ROOT


def build(folder: Path, kind: str = "wheel", *, source: Path = ROOT) -> Path:
    """Build a wheel, or with "sdist" an archive of sources; return its path."""
    _run(
        *(sys.executable, "-m", "hatchling", "build"),
        *("--target", kind, "--directory", str(folder)),
        cwd=source,
    )
    (made,) = folder.iterdir()
    return made


@dataclass(frozen=True, slots=True)
class Installation:
    """An environment in which the wheel is installed, and a user's own folders."""

    environment: Path
    home: Path
    elsewhere: Path
    """A folder that has nothing to do with either; commands are run there."""

    @property
    def python(self) -> Path:
        """The environment's Python."""
        return self.environment / "bin" / "python"

    @property
    def command(self) -> Path:
        """The command that the wheel brings."""
        return self.environment / "bin" / "rocketscope"

    @property
    def packages(self) -> Path:
        """Where the wheel's packages are."""
        (found,) = self.environment.glob("lib/python*/site-packages")
        return found

    @property
    def state(self) -> Path:
        """The folder of `.env` and `var`."""
        return self.home / ".local" / "state" / "rocketscope"

    @property
    def env(self) -> dict[str, str]:
        """What a user's environment has, and nothing of ours."""
        return {
            "HOME": str(self.home),
            "PWD": str(self.elsewhere),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
        }

    def run(
        self, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the command and wait for its end."""
        return subprocess.run(
            [str(self.command), *arguments],
            cwd=self.elsewhere,
            env={**self.env, **(env or {})},
            capture_output=True,
            text=True,
            check=False,
        )


def install(wheel: Path, folder: Path) -> Installation:
    """Install a wheel into a new environment."""
    made = Installation(folder / "environment", folder / "home", folder / "elsewhere")
    made.home.mkdir()
    made.elsewhere.mkdir()
    uv = str(Path(sys.executable).with_name("uv"))
    _run(uv, "venv", "--quiet", "--python", sys.executable, str(made.environment))
    _run(
        *(uv, "pip", "install", "--quiet", "--offline", "--no-index", "--no-deps"),
        *("--python", str(made.python), str(wheel)),
    )
    see_the_packages_of_others(made.environment)
    return made


def see_the_packages_of_others(environment: Path) -> None:
    """Let an environment import what the tests' own one has."""
    (packages,) = environment.glob("lib/python*/site-packages")
    others = sysconfig.get_path("purelib")
    (packages / "others.pth").write_text(f"{others}\n", "utf-8")


def _run(*command: str, cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
