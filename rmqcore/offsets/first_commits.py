"""The first commit of a topic's offsets at a broker, which must not meet another.

Apache's broker keeps a table of offsets for each topic of a group, and handles commits
in several threads. When two of them find no table yet, each makes one, the last one
stays, and the commit in the other is lost, although both were answered with success
(`ConsumerOffsetManager.commitOffset`, 4.9 and 5.x). A member repairs that with its next
commits, but not if it leaves before; an administrator sets offsets only once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field

from rmqcore.errors import TransportError


@dataclass(slots=True)
class _Turn:
    """The wait for the first commit to one table."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    is_over: bool = False


class FirstCommits:
    """Lets the first commit to each table go alone. Belongs to one event loop.

    A table is named by a topic, a group and a broker. None waits for another.
    """

    def __init__(self) -> None:
        self._turns: dict[Hashable, _Turn] = {}

    async def take_turn(
        self, table: Hashable, commit: Callable[[bool], Awaitable[None]]
    ) -> None:
        """Commit to a table: `commit` is told whether it is the first to do so.

        The first has to wait for the broker's answer, and the others wait for the
        first. If it is refused, the next one is the first. If no answer comes, the
        others stop waiting: a broker that is silent holds them up once, not each.
        """
        turn = self._turns.setdefault(table, _Turn())
        if not turn.is_over:
            async with turn.lock:
                if not turn.is_over:
                    await self._commit_first(table, turn, commit)
                    return
        await commit(False)

    async def _commit_first(
        self, table: Hashable, turn: _Turn, commit: Callable[[bool], Awaitable[None]]
    ) -> None:
        try:
            await commit(True)
        except TransportError:
            turn.is_over = True
            # Whoever comes later is the first again.
            del self._turns[table]
            raise
        turn.is_over = True
