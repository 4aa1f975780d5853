"""Keep one process alive: start, watch, restart and end it.

Theory. Each child leads a session of its own, so that Ctrl-C on the terminal reaches
the supervisor alone, which then ends the children in order. The kernel ends a child
whose supervisor was killed (PR_SET_PDEATHSIG); a child's own children are ended with
its process group, even if the child was killed: what goes on working without the
process that asked for it would work beside its successor. A child that ends on its own
is started again after a pause that doubles up to ten seconds and starts over once it
has lived for a minute.

Output goes to `logs/<name>.log`. When the process is started by a new supervisor, or
the log reaches its largest size, the previous log is kept as `<name>.log.1`.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from dashboard.clock.ending import KILL_AFTER_SECONDS

from .inheritance import inherited
from .logs import earlier, rotate
from .template import Forked, NotForkedError, Template

logger = logging.getLogger(__name__)

_PR_SET_PDEATHSIG: Final = 1
_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 10.0
_STABLE_AFTER_S: Final = 60.0
_LOG_LOOK_S: Final = 5.0
MOST_LOG_BYTES: Final = 20 * 1024 * 1024
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """A command to run. `nice` is added to the supervisor's own.

    `env` is added to what a child of this name inherits (see `inheritance`).
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    nice: int = 0


class Child:
    """Keeps one spec's process alive until `stop`."""

    def __init__(
        self,
        spec: ChildSpec,
        log_dir: Path,
        on_event: Callable[[str, str], None] | None = None,
        *,
        most_log_bytes: int = MOST_LOG_BYTES,
        log_look_s: float = _LOG_LOOK_S,
        template: Template | None = None,
    ) -> None:
        self.spec = spec
        self.starts = 0
        self._log_path = log_dir / f"{spec.name}.log"
        self._on_event = on_event or (lambda name, text: None)
        self._template = template or Template()
        self._process: asyncio.subprocess.Process | Forked | None = None
        self._watching: asyncio.Task[None] | None = None
        self._most_log_bytes = most_log_bytes
        self._log_look_s = log_look_s
        self._rotating: asyncio.Task[None] | None = None
        self._stopping = False

    @property
    def pid(self) -> int | None:
        """The process id, or None while there is no process."""
        process = self._process
        return process.pid if process and process.returncode is None else None

    def last_lines(self, count: int = 8) -> list[str]:
        """Return the end of the log, for failure messages."""
        try:
            text = self._log_path.read_text("utf-8", errors="replace")
        except OSError:
            return []
        return list(deque(text.splitlines(), maxlen=count))

    async def start(self) -> None:
        """Start the process and watch over it."""
        self._log_path.parent.mkdir(parents=True, exist_ok=True)
        if self._log_path.exists():
            self._log_path.replace(earlier(self._log_path))
        await self._spawn()
        loop = asyncio.get_running_loop()
        self._watching = loop.create_task(self._watch())
        self._rotating = loop.create_task(self._rotate())

    async def stop(self) -> None:
        """End the process: SIGTERM, and SIGKILL to its group 12 s later."""
        self._stopping = True
        if self._rotating is not None:
            self._rotating.cancel()
        if self._watching is not None and self.pid is None:
            self._watching.cancel()
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(KILL_AFTER_SECONDS):
                await process.wait()
        except TimeoutError:
            self._on_event(
                self.spec.name, f"did not end in {KILL_AFTER_SECONDS:g} s: killed"
            )
        _end_group(process.pid)
        await process.wait()

    async def _spawn(self) -> None:
        log: IO[bytes] = self._log_path.open("ab")
        try:
            self._process = await self._run(log)
        finally:
            log.close()
        self.starts += 1

    async def _run(self, log: IO[bytes]) -> asyncio.subprocess.Process | Forked:
        environ = {**inherited(self.spec.name, os.environ), **self.spec.env}
        output = log.fileno()
        try:
            return await self._template.fork(
                self.spec.argv,
                environ,
                nice=self.spec.nice,
                stdout=output,
                stderr=output,
            )
        except NotForkedError:
            return await asyncio.create_subprocess_exec(
                *self.spec.argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environ,
                start_new_session=True,
                preexec_fn=_prepare(os.getpid(), self.spec.nice),
            )

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        pause = _FIRST_PAUSE_S
        while True:
            began = loop.time()
            assert self._process is not None  # noqa: S101 - start spawned it
            code = await self._process.wait()
            if self._stopping:  # set by `stop` in the meantime
                return
            _end_group(self._process.pid)
            if loop.time() - began > _STABLE_AFTER_S:
                pause = _FIRST_PAUSE_S
            self._on_event(
                self.spec.name, f"ended ({_how(code)}), starts again in {pause:g} s"
            )
            await asyncio.sleep(pause)  # `stop` cancels it
            pause = min(pause * 2, _LONGEST_PAUSE_S)
            await self._spawn()

    async def _rotate(self) -> None:
        told = ""
        while True:
            await asyncio.sleep(self._log_look_s)  # `stop` cancels it
            try:
                await asyncio.to_thread(rotate, self._log_path, self._most_log_bytes)
            except OSError as error:
                if str(error) != told:
                    self._on_event(self.spec.name, f"keeps its long log: {error}")
                told = str(error)
            else:
                told = ""


def _prepare(supervisor_pid: int, nice: int) -> Callable[[], None]:
    def prepare() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != supervisor_pid:
            # The supervisor died before the line above, so nothing would end this
            # process.
            os._exit(1)
        if nice:
            os.nice(nice)

    return prepare


def _end_group(leader: int) -> None:
    """End what a leader has started: it may be gone while its own children live on."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _how(code: int) -> str:
    if code < 0:
        return signal.Signals(-code).name
    return f"exit code {code}"
