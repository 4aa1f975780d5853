"""The process that the children made of Python are forked from: `Template`.

Theory. Ten interpreters that each import Django and Celery take ten times the second
and the forty megabytes that one of them takes. So one process imports what several
need, and is forked for each child: pages that nobody writes to are shared. It has read
none of our settings and holds no secret, only the system's variables; what a child
inherits (`inheritance`) is handed to it after the fork, and it shows up as the command
that it runs, as if it had been started by itself.

The template forks twice, while the supervisor adopts orphans, so that the child is the
supervisor's own: it is waited for, signalled and ended like any other, and lives on
when the template has died. Then, or where the kernel has no pidfd (before 5.3),
children are started as commands of their own.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Final

logger = logging.getLogger(__name__)

_PR_SET_CHILD_SUBREAPER: Final = 36
_MOST_BYTES: Final = 4 * 1024 * 1024
_libc = ctypes.CDLL(None, use_errno=True)


class NotForkedError(Exception):
    """The template cannot fork a child: start it as a command of its own."""


class Forked:
    """A forked child, with what is used of `asyncio.subprocess.Process`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._ended: asyncio.Event = asyncio.Event()
        self._descriptor = os.pidfd_open(pid)
        asyncio.get_running_loop().add_reader(self._descriptor, self._reap)

    async def wait(self) -> int:
        """Wait for the end; return the exit code, negative for a signal."""
        await self._ended.wait()
        assert self.returncode is not None  # noqa: S101 - set before the event
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended and its id may be another's."""
        if self.returncode is None:
            signal.pidfd_send_signal(self._descriptor, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def _reap(self) -> None:
        asyncio.get_running_loop().remove_reader(self._descriptor)
        _pid, status = os.waitpid(self.pid, 0)
        self.returncode = os.waitstatus_to_exitcode(status)
        os.close(self._descriptor)
        self._ended.set()


class Template:
    """The process, and the socket by which it is asked to fork."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._asking = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """The process id, None when it has not been started."""
        return self._process.pid if self._process else None

    def start(self, environ: Mapping[str, str]) -> None:
        """Start it; it imports on its own while other things are done."""
        if not _has_pidfd():
            return
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603  the command is ours
                [
                    sys.executable,
                    *("-m", "dashboard.supervisor.forking", str(theirs.fileno())),
                ],
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        ours.setblocking(False)
        self._socket = ours

    async def fork(
        self,
        argv: Sequence[str],
        environ: Mapping[str, str],
        *,
        nice: int = 0,
        stdout: int,
        stderr: int,
    ) -> Forked:
        """Fork a child that runs `python -m MODULE …`; the descriptors stay open here.

        Raises `NotForkedError` for another command, or when the template has ended.
        """
        if self._socket is None or tuple(argv[:2]) != (sys.executable, "-m"):
            raise NotForkedError
        request = json.dumps(
            {"argv": list(argv), "environ": dict(environ), "nice": nice}
        ).encode()
        async with self._asking:
            _adopt_orphans(True)
            try:
                pid = await self._ask(self._socket, request, (stdout, stderr))
            except OSError as error:
                if self._socket is not None:
                    self._socket.close()
                    self._socket = None
                logger.warning("children are no longer forked: %s", error)
                raise NotForkedError from error
            finally:
                _adopt_orphans(False)
        return Forked(pid)

    def stop(self) -> None:
        """End the process; children that it has forked live on."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()

    async def _ask(
        self, ours: socket.socket, request: bytes, descriptors: tuple[int, int]
    ) -> int:
        loop = asyncio.get_running_loop()
        # A full buffer is no answer: a large environment takes several writes.
        socket.send_fds(ours, [len(request).to_bytes(4, "big")], descriptors)
        await loop.sock_sendall(ours, request)
        answer = b""
        while len(answer) < 4:
            more = await loop.sock_recv(ours, 4 - len(answer))
            if not more:
                raise ConnectionError("the template has ended")
            answer += more
        return int.from_bytes(answer, "big")


def _has_pidfd() -> bool:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True


def _adopt_orphans(yes: bool) -> None:
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, int(yes), 0, 0, 0)
