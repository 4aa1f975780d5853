"""A child process that prints JSON lines, and waiting for what it will print."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from .process import Process

Event = dict[str, Any]

ANSWER_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 60.0


class JsonLines:
    """A running child; every line it prints that begins an object is an event.

    Events of different kinds are told apart by their member `event`. A context
    manager that kills the child at the end.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self._process = Process(argv, log=log, env=env, cwd=cwd, piped=True)
        self._arrived = threading.Condition()
        self._events: list[Event] = []
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def signal(self, number: int) -> None:
        """Send the child a signal, such as SIGSTOP."""
        self._process.signal(number)

    def kill(self) -> None:
        """End the child at once, as a crash would."""
        self._process.signal(signal.SIGKILL)
        self._process.wait(_STOP_SECONDS)
        self._reader.join()
        self._process.kill()

    def stop(self) -> int:
        """Ask the child to stop, wait until it has, and return its exit code."""
        self._process.signal(signal.SIGTERM)
        code = self._process.wait(_STOP_SECONDS)
        self._reader.join()
        return code

    def write(self, line: str) -> None:
        """Send the child a line."""
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()

    def events(self, kind: str | None = None) -> list[Event]:
        """Return the events of a kind so far, or all of them."""
        with self._arrived:
            return [e for e in self._events if kind is None or e.get("event") == kind]

    def since(self, number: int) -> list[Event]:
        """Return the events from that number on: cheap for who has seen the others."""
        with self._arrived:
            return self._events[number:]

    def wait_for(
        self,
        wanted: Callable[[Event], bool],
        *,
        after: int = 0,
        timeout: float = ANSWER_SECONDS,
    ) -> Event:
        """Return the first event, from number `after` on, that is `wanted`."""
        found: list[Event] = []

        def look() -> bool:
            found[:] = filter(wanted, self._events[after:])
            return bool(found) or self._ended

        self.wait_until(look, timeout=timeout)
        if not found:
            raise RuntimeError(f"the process ended:\n{self._process.tail()}")
        return found[0]

    def wait_until(
        self, settled: Callable[[], object], *, timeout: float = ANSWER_SECONDS
    ) -> None:
        """Return when `settled`, asked after every event, says so."""
        with self._arrived:
            if not self._arrived.wait_for(settled, timeout):
                recent = "\n".join(map(str, self._events[-20:]))
                raise TimeoutError(f"nothing like it in {timeout} s; last:\n{recent}")

    def tail(self) -> str:
        """Return the end of what the child wrote to standard error."""
        return self._process.tail()

    def _read(self) -> None:
        for line in self._process.stdout:
            # Java clients of 4.x print warnings of their own beside our lines.
            if not line.startswith(b"{"):
                continue
            event = json.loads(line)
            with self._arrived:
                self._events.append(event)
                self._arrived.notify_all()
        with self._arrived:
            self._ended = True
            self._arrived.notify_all()
