"""Child processes of a test: a group of their own, output in a file, never left over.

A child is killed with its whole process group, and by the kernel when the thread that
started it ends without doing so: start children from pytest's main thread.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from . import forked as template

_PR_SET_PDEATHSIG: Final = 1
_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_TAIL_BYTES: Final = 4096


def _die_with_parent() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """One running child; `log` holds what it prints, except a piped standard output.

    With `forked` it is forked from a process that has imported what children share,
    which costs a fraction (see `forked`); its command must be `python -m MODULE …`.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        piped: bool = False,
        forked: bool = False,
    ) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log = log
        self._popen: subprocess.Popen[bytes] | template.Forked
        with log.open("ab") as output:
            if forked:
                descriptor = output.fileno()
                self._popen = template.fork(
                    argv, env or {}, out=descriptor, err=descriptor
                )
                return
            self._popen = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
                stdout=subprocess.PIPE if piped else output,
                stderr=output,
                env={**os.environ, **(env or {})},
                cwd=cwd,
                start_new_session=True,
                # One call into an already loaded library, nothing that takes a lock.
                preexec_fn=_die_with_parent,  # noqa: PLW1509
            )

    @property
    def pid(self) -> int:
        """The child's process id, which is its group's id as well."""
        return self._popen.pid

    @property
    def running(self) -> bool:
        """True until the child has ended."""
        return self._popen.poll() is None

    @property
    def stdin(self) -> IO[bytes]:
        """The pipe into the child; only where it was started with `piped`."""
        assert self._popen.stdin is not None
        return self._popen.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """The pipe out of the child; only where it was started with `piped`."""
        assert self._popen.stdout is not None
        return self._popen.stdout

    def tail(self) -> str:
        """Return the end of what the child printed."""
        return self.log.read_bytes()[-_TAIL_BYTES:].decode(errors="replace")

    def signal(self, number: int) -> None:
        """Send a signal to the child's whole group, if it still runs."""
        if self.running:
            os.killpg(self.pid, number)

    def wait(self, timeout: float) -> int:
        """Return the exit code, waiting up to `timeout` seconds for it."""
        return self._popen.wait(timeout)

    def kill(self) -> None:
        """End the child and its group at once; harmless when it has ended."""
        self.signal(signal.SIGKILL)
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe is not None:
                _close_quietly(pipe)


def _close_quietly(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        # What was still buffered for a dead child has nowhere to go.
        pass
