"""The first commit of a topic's offsets at a broker, which must not meet another.

Apache's broker keeps a table of offsets for each topic of a group. It handles commits
in several threads. When two of them find no table yet, each makes one, the last one
stays, and the commit in the other is lost, although both were answered with success
(`ConsumerOffsetManager.commitOffset`, 4.9 and 5.x). The next commits of a member repair
that; those of a member that leaves, and of an administrator, have no next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable


class FirstCommits:
    """Lets the first commit to each table go alone. Belongs to one event loop."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._known: set[Hashable] = set()

    async def take_turn(
        self, table: Hashable, commit: Callable[[bool], Awaitable[None]]
    ) -> None:
        """Commit to a table: `commit` is told whether it is the first to do so.

        The first has to wait for the broker's answer; the others wait for the first.
        When it raises, the next one is the first.
        """
        if table not in self._known:
            async with self._turn:
                if table not in self._known:
                    await commit(True)
                    self._known.add(table)
                    return
        await commit(False)
