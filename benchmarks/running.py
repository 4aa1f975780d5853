"""Things that commands start side by side and end together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Self

from rmqcore.loop_thread import LoopThread


class Running:
    """A context manager that starts several things and ends whatever had started."""

    def __enter__(self) -> Self:
        self._ended = ExitStack()
        try:
            self._start()
        except BaseException:
            self._ended.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.close()

    def _start(self) -> None:
        """Start everything; how each of it ends goes onto `self._ended`."""
        raise NotImplementedError


@contextmanager
def looping(name: str) -> Iterator[LoopThread]:
    """Run an event loop in a thread of that name."""
    loop = LoopThread(name)
    loop.start()
    try:
        yield loop
    finally:
        loop.stop()
