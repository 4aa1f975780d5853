"""A terminal that has imported RocketScope, and is forked for each command.

To start Python and to import Django takes most of the processor time of a short command
of `manage.py`. A fork reads the settings again, from its own variables, before it runs
the command as `manage.py` does.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analytics.places import ROOT


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Terminal:
    """The process that is forked."""

    process: subprocess.Popen[str]
    folder: Path

    def manage(self, arguments: tuple[str, ...], more: Mapping[str, str]) -> Ended:
        """Run `manage.py` with these arguments and more variables."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        asked = {"arguments": arguments, "more": dict(more), "folder": str(self.folder)}
        self.process.stdin.write(f"{json.dumps(asked)}\n")
        self.process.stdin.flush()
        returncode = int(self.process.stdout.readline())
        said = [(self.folder / name).read_text("utf-8") for name in ("out", "err")]
        return Ended(returncode, *said)


@contextmanager
def terminal() -> Iterator[Terminal]:
    """Start the process, and end it afterwards."""
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [sys.executable, "-m", "tests.support.terminal"],
            cwd=ROOT,
            # Threads of NumPy's would not be there after a fork.
            env={
                **os.environ,
                "OPENBLAS_NUM_THREADS": "1",
                "ROCKETSCOPE_VAR_DIR": f"{folder}/var",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        # It ends when its input does, which happens as this block is left.
        yield Terminal(process, Path(folder))


def main() -> None:
    """Fork once for each line of the input, and answer with the exit code."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "dashboard.config.settings"
    import django

    for name in ("numpy", "psycopg"):
        importlib.import_module(name)
    django.setup()
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(asked)
            return
        _pid, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _become(asked: dict[str, Any]) -> None:
    """Run the command in this process as if it had been typed."""
    folder = Path(asked["folder"])
    for descriptor, path, mode in (
        (0, Path(os.devnull), "rb"),
        (1, folder / "out", "wb"),
        (2, folder / "err", "wb"),
    ):
        with path.open(mode) as file:
            os.dup2(file.fileno(), descriptor)
    os.environ.update(asked["more"])
    _read_settings_again()
    from django.core.management import execute_from_command_line

    sys.argv = ["manage.py", *asked["arguments"]]
    execute_from_command_line(sys.argv)


def _read_settings_again() -> None:
    from django.conf import settings
    from django.db import connections
    from django.utils.functional import empty

    importlib.reload(importlib.import_module("dashboard.config.settings"))
    settings._wrapped = empty
    # Connections are kept apart from the settings; none of them is open yet.
    for made in connections.all(initialized_only=True):
        assert made.connection is None
        del connections[made.alias]
    vars(connections).pop("settings", None)
    vars(connections)["_settings"] = None


if __name__ == "__main__":
    main()
