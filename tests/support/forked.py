"""Children of tests, forked from one process as `rocketscope up` forks its own.

An interpreter that imports Django and Celery for itself takes one to two seconds of a
processor for that. A child of the supervisor's template has them already. One template
serves all tests of a process: it has read no settings, and gets those of a child with
the request for it (see `dashboard.supervisor.template`).
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from dashboard.supervisor import plan
from dashboard.supervisor.inheritance import inherited

_ROOT: Final = Path(__file__).resolve().parent.parent.parent
_MODULE: Final = (sys.executable, "-m")
_PR_SET_CHILD_SUBREAPER: Final = 36
_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_POLL_S: Final = 0.02


class Forked:
    """A forked child, with what tests use of `subprocess.Popen`."""

    stdin: IO[bytes] | None = None
    stdout: IO[bytes] | None = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while the child runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; raises `TimeoutExpired` when there is none in time."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                assert timeout is not None
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            time.sleep(_POLL_S)
        return code


class _Template:
    """The template's process, and the socket by which it is asked to fork."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        fd = str(theirs.fileno())
        with theirs:
            self._process = subprocess.Popen(
                [*_MODULE, "dashboard.supervisor.forking", fd],
                cwd=_ROOT,
                env=inherited("template", os.environ) | plan.FOR_ALL | plan.ONE_THREAD,
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        atexit.register(self.stop)

    def stop(self) -> None:
        """End the process; children live on."""
        self._socket.close()
        self._process.kill()
        self._process.wait()

    def fork(
        self, argv: Sequence[str], env: Mapping[str, str], out: int, err: int
    ) -> Forked:
        """Fork a child, which becomes this process's own."""
        asked = {"argv": list(argv), "environ": dict(env), "nice": 0}
        request = json.dumps(asked).encode()
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        try:
            size = len(request).to_bytes(4, "big")
            socket.send_fds(self._socket, [size], [out, err])
            self._socket.sendall(request)
            answer = b""
            while len(answer) < 4:
                more = self._socket.recv(4 - len(answer))
                assert more, "the template has ended"
                answer += more
        finally:
            _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        return Forked(int.from_bytes(answer, "big"))


_started: list[_Template] = []


def fork(argv: Sequence[str], env: Mapping[str, str], *, out: int, err: int) -> Forked:
    """Fork a child that runs `python -m MODULE …`; the descriptors stay open here.

    The child starts in the root of the sources, in a session of its own.
    """
    assert tuple(argv[:2]) == _MODULE
    if not _started:
        _started.append(_Template())
    return _started[0].fork(argv, {**os.environ, **env}, out, err)


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
