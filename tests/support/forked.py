"""Children of tests, forked from one process as `rocketscope up` forks its own.

An interpreter that imports Django and Celery for itself takes one to two seconds of a
processor for that. A child of the supervisor's template has them already. One template
serves all tests of a process: it has read no settings, and gets those of a child with
the request for it (see `dashboard.supervisor.template`).
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from typing import IO, Final

from analytics.places import ROOT
from dashboard.supervisor import plan, template
from dashboard.supervisor.inheritance import inherited
from rmqcore.loop_thread import LoopThread

_MODULE: Final = (sys.executable, "-m")
_loop: Final = LoopThread("forking", starts_itself=True)
_started: list[template.Template] = []


class Forked:
    """A forked child, with what tests use of `subprocess.Popen`."""

    stdin: IO[bytes] | None = None
    stdout: IO[bytes] | None = None

    def __init__(self, child: template.Forked) -> None:
        self._child = child
        self.pid = child.pid

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while the child runs."""
        return self._child.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; raises `TimeoutExpired` when there is none in time."""
        try:
            return _loop.call(self._child.wait(), timeout)
        except TimeoutError:
            assert timeout is not None
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout) from None


def fork(argv: Sequence[str], env: Mapping[str, str], *, out: int, err: int) -> Forked:
    """Fork a child that runs `python -m MODULE …`; the descriptors stay open here.

    The child starts in the root of the sources, in a session of its own.
    """
    if not _started:
        made = template.Template()
        shared = inherited("template", os.environ) | plan.FOR_ALL | plan.ONE_THREAD
        with chdir(ROOT):
            made.start(shared)
        atexit.register(made.stop)
        _started.append(made)
    asking = _started[0].fork(argv, {**os.environ, **env}, stdout=out, stderr=err)
    return Forked(_loop.call(asking))


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def manage(env: Mapping[str, str], *arguments: str) -> str:
    """Run a management command; return what it printed."""
    return _printed(managed(env, *arguments))


def managed(env: Mapping[str, str], *arguments: str) -> Ended:
    """Run a management command, which may fail."""
    found = {"DJANGO_SETTINGS_MODULE": "dashboard.config.settings", **env}
    return _ended(found, "django", *arguments)


def script(env: Mapping[str, str], code: str, *arguments: str) -> str:
    """Run code with Django set up; return what it printed."""
    return _printed(_ended(env, "tests.support.script", code, *arguments))


def _ended(env: Mapping[str, str], module: str, *arguments: str) -> Ended:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        argv = (*_MODULE, module, *arguments)
        code = fork(argv, env, out=out.fileno(), err=err.fileno()).wait()
        for file in (out, err):
            file.seek(0)
        printed, told = (file.read().decode(errors="replace") for file in (out, err))
        return Ended(code, printed, told)


def _printed(ended: Ended) -> str:
    assert ended.code == 0, ended.err
    return ended.out
