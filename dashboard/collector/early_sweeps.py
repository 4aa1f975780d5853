"""When all groups of a cluster are swept before the next tick.

Looks at single groups may find what the list lacks: a new group, or a broker that
answers again. Without an early sweep the list would lack it for up to ten seconds.
Between two ticks, there is one early sweep for brokers, and one for each group, since
sweeps may not see what looks have seen. New groups often come one after another; a rest
between sweeps leaves most of the time to others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Set
from typing import Any, Final

from dashboard.live.tasks import end_tasks

REST_SECONDS: Final = 0.5
REST: Final = 4
"""How long no further early sweep begins: seconds, and times the last sweep."""


class EarlySweeps:
    """The early sweeps of one cluster; runs on one event loop."""

    def __init__(
        self,
        sweep: Callable[[], Coroutine[Any, Any, None]],
        lacking: Callable[[], Set[str] | None],
    ) -> None:
        """`lacking` returns the groups that the list lacks.

        It returns None if the list is up to date, or while it is being made.
        """
        self._sweep = sweep
        self._lacking = lacking
        self._last: asyncio.Task[None] | None = None
        self._swept_for: set[str] = set()
        self._next: asyncio.TimerHandle | None = None

    @property
    def under_way(self) -> asyncio.Task[None] | None:
        """The early sweep that runs, if one does."""
        return None if self._last is None or self._last.done() else self._last

    def begin_anew(self) -> None:
        """Take a tick, whose own sweep follows."""
        self._last = None
        self._swept_for.clear()
        self._forget_next()

    def check(self, last_sweep_ms: int) -> None:
        """Sweep, now or after a rest, if the list lacks what looks have found."""
        lacking = self._lacking()
        if lacking is None:
            return
        new = lacking - self._swept_for
        if self._last is None:
            self._swept_for |= new
            self._last = asyncio.create_task(self._sweep())
        elif new and self._next is None:
            rest_s = max(REST_SECONDS, REST * last_sweep_ms / 1000)
            self._next = asyncio.get_running_loop().call_later(rest_s, self._again)

    async def close(self) -> None:
        """End the sweep that runs, and begin no other."""
        self._forget_next()
        if self._last is not None:
            await end_tasks(self._last)

    def _again(self) -> None:
        self._next = None
        lacking = self._lacking()
        if lacking is not None and lacking - self._swept_for:
            self._last = None
            self.check(0)

    def _forget_next(self) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None
