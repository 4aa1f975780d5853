"""Tells the collectors which groups the sockets of this process watch.

Each process writes (group -> now + 15 s) to the cache when the first watch of a group
begins and every 5 s while any lasts. Nothing is ever counted in the cache, so nothing
leaks when a process dies: its watches run out. Cost: one small write per cluster every
5 s.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import Final
from weakref import WeakKeyDictionary

import redis.asyncio
from django.conf import settings

from .names import watch_key
from .state import WATCH_SECONDS, WATCHES_KEPT_SECONDS, make_async_client
from .tasks import end_tasks

logger = logging.getLogger(__name__)

REFRESH_SECONDS: Final = 5.0


class WatchList:
    """The watches of one event loop's sockets; see the module's docstring."""

    def __init__(
        self,
        client: redis.asyncio.Redis,
        *,
        now: Callable[[], float] = time.time,
        refresh_seconds: float = REFRESH_SECONDS,
    ) -> None:
        self._client = client
        self._now = now
        self._refresh_seconds = refresh_seconds
        self._sockets: Counter[tuple[str, str]] = Counter()
        self._refreshing: asyncio.Task[None] | None = None

    async def add(self, cluster: str, group: str) -> None:
        """Count one more socket on the group; tell the cache at once of the first."""
        self._sockets[cluster, group] += 1
        if self._refreshing is None:
            self._refreshing = asyncio.create_task(self._refresh())
        if self._sockets[cluster, group] == 1:
            await self._write({(cluster, group)})

    async def discard(self, cluster: str, group: str) -> None:
        """Count one socket fewer; after the last one the watch runs out."""
        self._sockets[cluster, group] -= 1
        if self._sockets[cluster, group] <= 0:
            del self._sockets[cluster, group]
        if not self._sockets and self._refreshing is not None:
            await end_tasks(self._refreshing)
            self._refreshing = None
            await self._client.aclose()

    async def _refresh(self) -> None:
        while True:
            await asyncio.sleep(self._refresh_seconds)
            await self._write(set(self._sockets))

    async def _write(self, watches: set[tuple[str, str]]) -> None:
        until = self._now() + WATCH_SECONDS
        by_cluster: dict[str, dict[str, float]] = {}
        for cluster, group in watches:
            by_cluster.setdefault(cluster, {})[group] = until
        try:
            for cluster, groups in by_cluster.items():
                key = watch_key(cluster)
                async with self._client.pipeline(transaction=False) as pipeline:
                    pipeline.zadd(key, groups)
                    pipeline.expire(key, WATCHES_KEPT_SECONDS)
                    await pipeline.execute()
        except (redis.RedisError, OSError) as error:
            # The next refresh writes all watches again.
            logger.warning("watches=%d not written: %s", len(watches), error)


_lists: WeakKeyDictionary[asyncio.AbstractEventLoop, WatchList] = WeakKeyDictionary()


def watch_list() -> WatchList:
    """Return the watch list of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _lists:
        _lists[loop] = WatchList(make_async_client(settings.ROCKETSCOPE_REDIS_URL))
    return _lists[loop]
