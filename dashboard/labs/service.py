"""The role of a worker that plays labs: waits for runs, claims them, plays them.

Labs are played only on the embedded cluster, which may be started while the role
already waits; without it, no run is claimed. It has a loop of its own, so that a lab's
members never delay the fleet's, which live in the same process. New runs are announced
through the cache; now and then the role also looks by itself, for runs requested while
the cache was unavailable.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import orjson
import redis.asyncio
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import DatabaseError

from dashboard.clock.ending import HAND_BACK_SECONDS, LOOP_SECONDS
from dashboard.clock.ticks import Tick
from dashboard.gateway.database_thread import DatabaseThread
from dashboard.gateway.present import clusters_now
from dashboard.live.hearing import hear
from dashboard.live.names import LABS_WAKE_CHANNEL, live_labs_name
from dashboard.live.state import make_async_client
from dashboard.live.tasks import end_tasks
from dashboard.models import LabRun
from rmqcore.loop_thread import LoopThread

from .runs import claim, left_over_runs, note_swept, waiting_runs

if TYPE_CHECKING:
    from .playing import Playing

logger = logging.getLogger(__name__)

LOOK_EVERY_SECONDS: Final = 5.0
AT_ONCE: Final = 4
"""Labs that one worker plays at the same time; further ones wait."""
START_SECONDS: Final = 30.0


class LabService:
    """The labs that one worker plays."""

    def __init__(self, worker_name: str) -> None:
        self._worker = worker_name
        self._nameservers: dict[str, str] = {}
        self._thread = LoopThread("labs")
        self._database = DatabaseThread("labs-database")
        self._tasks: list[asyncio.Task[None]] = []
        self._playing: dict[asyncio.Task[None], Playing] = {}
        self._wake: asyncio.Event | None = None
        self._client: redis.asyncio.Redis | None = None

    def start(self) -> None:
        """Begin to wait for runs; return once the loop is running."""
        self._thread.start()
        self._thread.call(self._open(), START_SECONDS)

    def stop(self) -> None:
        """End the labs that are being played, and delete their topics."""
        if self._thread.running:
            with suppress(TimeoutError):
                self._thread.call(self._close(), HAND_BACK_SECONDS)
            self._thread.stop(LOOP_SECONDS)
        self._database.close()

    def receive(self, tick: Tick) -> None:
        """Ignore the tick: labs keep their own time."""

    # On the loop

    async def _open(self) -> None:
        self._client = make_async_client(settings.ROCKETSCOPE_REDIS_URL)
        self._wake = asyncio.Event()
        self._spawn(self._hear(self._client, self._wake))
        self._spawn(self._take_runs(self._wake))

    async def _close(self) -> None:
        await end_tasks(*self._tasks)
        for task in self._playing:
            task.cancel()
        await asyncio.gather(*self._playing, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()

    async def _hear(self, client: redis.asyncio.Redis, wake: asyncio.Event) -> None:
        async for _channel, _message in hear(client, LABS_WAKE_CHANNEL):
            wake.set()

    async def _take_runs(self, wake: asyncio.Event) -> None:
        while True:
            wake.clear()
            for playing in self._playing.values():
                playing.look()
            try:
                self._nameservers = await self._database.run(_embedded_name_servers)
                await self._claim_some()
                await self._sweep()
            except DatabaseError as error:
                logger.warning("labs not looked for: %s", error)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_SECONDS):
                    await wake.wait()

    async def _claim_some(self) -> None:
        if len(self._playing) >= AT_ONCE:
            return
        names = list(self._nameservers)
        for pk in await self._database.run(lambda: waiting_runs(names)):
            if len(self._playing) >= AT_ONCE:
                return
            run = await self._database.run(partial(claim, pk, self._worker))
            if run is not None:
                self._play(run)

    async def _sweep(self) -> None:
        """Delete what is left of runs whose worker was killed."""
        names = list(self._nameservers)
        for run in await self._database.run(lambda: left_over_runs(names)):
            from .sweeping import sweep

            if await sweep(run, self._nameservers[run.cluster.name]):
                await self._database.run(partial(note_swept, run.pk))

    def _play(self, run: LabRun) -> None:
        # Imported late, so that a worker that plays no labs does not load them.
        from .playing import Playing

        playing = Playing(
            run,
            self._nameservers[run.cluster.name],
            database=self._database.run,
            tell=self._tell,
        )
        task = asyncio.get_running_loop().create_task(playing.play())
        self._playing[task] = playing
        task.add_done_callback(self._played)

    def _played(self, task: asyncio.Task[None]) -> None:
        del self._playing[task]
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a lab's outcome was not written", exc_info=error)
        if self._wake is not None:
            self._wake.set()

    async def _tell(self, run: LabRun) -> None:
        """Announce that a run has progressed; receivers load what they want to show."""
        message = {"type": "update", "cluster": run.cluster.name, "labs": True}
        text = orjson.dumps({**message, "lab": run.lab, "run": str(run.pk)}).decode()
        try:
            await get_channel_layer().group_send(
                live_labs_name(run.cluster.name), {"type": "live.update", "text": text}
            )
        except (redis.RedisError, OSError) as error:
            logger.warning("run=%s not told: %s", run.pk, error)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(work))


def _embedded_name_servers() -> dict[str, str]:
    return {
        name: ";".join(cluster.name_servers)
        for name, cluster in clusters_now().items()
        if cluster.embedded
    }
