"""The fleet as a role of a Celery worker: hosts members on one loop beside its tasks.

Ticks come from beat into the worker's main thread and are handed to the loop; changed
wishes are announced through the cache. When stopped, the worker leaves its groups
cleanly: offsets are persisted, locks released, members given back.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Coroutine
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

import redis.asyncio
from django.conf import settings

from dashboard.clock.ending import HAND_BACK_SECONDS, LOOP_SECONDS
from dashboard.clock.ticks import Tick
from dashboard.gateway.database_thread import DatabaseThread
from dashboard.gateway.present import clusters_now
from dashboard.live.hearing import hear
from dashboard.live.names import FLEET_WAKE_CHANNEL
from dashboard.live.state import make_async_client
from dashboard.live.tasks import end_tasks
from rmqcore.loop_thread import LoopThread

from .announcing import Announcer
from .host import FleetHost
from .planning import WorkerName

logger = logging.getLogger(__name__)

START_SECONDS: Final = 30.0


class FleetService:
    """The members hosted by one worker."""

    def __init__(self, worker_name: str) -> None:
        self._worker = WorkerName(
            worker_name, socket.gethostname(), os.getpid(), datetime.now(UTC)
        )
        self._thread = LoopThread("fleet")
        self._database = DatabaseThread("fleet-database")
        self._tasks: list[asyncio.Task[None]] = []
        self._client: redis.asyncio.Redis | None = None
        self._host: FleetHost | None = None

    def start(self) -> None:
        """Begin to host; return once the loop is running."""
        self._thread.start()
        self._thread.call(self._open(), START_SECONDS)

    def stop(self) -> None:
        """Leave all groups cleanly and give the members back."""
        with suppress(TimeoutError):
            self._thread.call(self._close(), HAND_BACK_SECONDS)
        self._thread.stop(LOOP_SECONDS)
        self._database.close()

    def receive(self, tick: Tick) -> None:
        """Take a tick from the worker's main thread."""
        if self._host is not None:
            self._thread.call_soon(self._host.take, tick)

    # On the loop

    async def _open(self) -> None:
        self._client = make_async_client(settings.ROCKETSCOPE_REDIS_URL)
        self._host = FleetHost(
            self._worker,
            clusters=clusters_now,
            announcer=Announcer(self._client),
            client=self._client,
            database=self._database.run,
            now=time.time,
        )
        self._spawn(self._host.follow())
        self._spawn(self._host.keep_alive())
        self._spawn(self._host.watch())
        self._spawn(self._hear_wishes(self._host, self._client))

    async def _close(self) -> None:
        await end_tasks(*self._tasks)
        if self._host is not None:
            await self._host.close()
        if self._client is not None:
            await self._client.aclose()

    async def _hear_wishes(self, host: FleetHost, client: redis.asyncio.Redis) -> None:
        async for _channel, _message in hear(client, FLEET_WAKE_CHANNEL):
            host.wake()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(work))
