"""The collector as a role of a Celery worker: clusters, ticks, notices, one loop.

Everything runs on one asyncio loop in a thread of the worker's main process, so that
connections and previous snapshots are kept between sweeps. Which clusters there are is
asked every two seconds: they may be attached and removed on a page. Ticks come from
beat; a slot whose tick is late is run without it. One collector leads a cluster;
several divide the clusters among themselves, and each is a spare for the others (see
`division`). The leases are renewed by a thread beside the loop, for as long as the loop
does anything at all.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from random import SystemRandom
from typing import Any, Final

import orjson
import redis
import redis.asyncio
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import Error as DatabaseError
from django.utils import timezone

from dashboard.alerting.delivery import Deliverer
from dashboard.alerting.records import end_all_but
from dashboard.clock.ending import HAND_BACK_SECONDS, LOOP_SECONDS
from dashboard.clock.ticks import COLLECTOR_PERIOD_S, FALLBACK, SWEEP_ALL, Tick, asked
from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.connections import ClusterConnection
from dashboard.gateway.database_thread import DatabaseThread
from dashboard.gateway.present import clusters_now
from dashboard.gateway.settings import ClusterSettings
from dashboard.live.metrics import METRICS_KEPT_SECONDS
from dashboard.live.names import metrics_key
from dashboard.live.state import make_async_client
from dashboard.live.tasks import end_tasks
from dashboard.models import Cluster
from rmqcore.loop_thread import LoopThread
from rmqcore.timers import Schedule

from .cluster_collector import ClusterCollector
from .collected import Collected
from .division import Division
from .epochs import WantedStrategy
from .garbage import GarbageSearch
from .keeping import Keeper
from .lateness import lateness
from .lease import LOOP_DEAD_SECONDS, Lease, Renewals
from .loop_watch import LoopWatch
from .records import load_wanted_strategies

logger = logging.getLogger(__name__)

LOOK_FOR_CLUSTERS_SECONDS: Final = 2.0
LOOK_FOR_LATE_SECONDS: Final = 0.25
GARBAGE_SWEEPS: Final = 60
"""How many sweeps of all pass until garbage is searched for."""
BETWEEN_SWEEPS_S: Final = COLLECTOR_PERIOD_S[SWEEP_ALL] / 2
"""How long after the beginning of a sweep it is searched for."""
START_SECONDS: Final = 30.0


@dataclass(slots=True)
class Timing:
    """How well this worker keeps to its schedule, for /metrics.

    `late_ms`: how late the last sweep over all groups began. `missed`: ticks that were
    not acted on. `loop_held_ms`: the longest time for which nothing ran on the loop
    between the last two sweeps.
    """

    late_ms: int = 0
    missed: int = 0
    loop_held_ms: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """A cluster to be collected, and the number of its row."""

    cluster: ClusterSettings
    row: int


class CollectorService:
    """All clusters there are, collected by one worker."""

    def __init__(self, worker_name: str) -> None:
        self._name = worker_name
        self._thread = LoopThread("collector")
        self._chance = SystemRandom()
        self._schedule = Schedule(time.time(), COLLECTOR_PERIOD_S)
        self._collected: dict[str, Collected] = {}
        self._leases: list[Lease] = []
        self._database = DatabaseThread("collector-clusters")
        self._tasks: set[asyncio.Task[Any]] = set()
        self._client: redis.asyncio.Redis | None = None
        self._division: Division | None = None
        self._loop_watch = LoopWatch(LOOK_FOR_LATE_SECONDS)
        self._timing = Timing()
        self._sweeps = 0
        self._garbage = GarbageSearch()
        self._renewals: Renewals | None = None
        self._deliverer = Deliverer()
        self._alerting: frozenset[str] | None = None
        """The clusters there were when alerts of others were last ended."""

    def start(self) -> None:
        """Begin to collect; returns when the loop runs."""
        self._garbage.begin()
        sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
        self._thread.start()
        self._thread.call(self._open(), START_SECONDS)
        self._renewals = Renewals(
            settings.ROCKETSCOPE_REDIS_URL,
            self._leases,
            alive=lambda: self._loop_watch.silent_s < LOOP_DEAD_SECONDS,
        )
        self._renewals.start()

    def stop(self) -> None:
        """Give up the leads, write what is left, close connections."""
        if self._renewals is not None:
            self._renewals.stop()
        with suppress(TimeoutError):
            self._thread.call(self._close(), HAND_BACK_SECONDS)
        self._thread.stop(LOOP_SECONDS)
        self._deliverer.stop()
        self._database.close()

    def receive(self, tick: Tick) -> None:
        """Take a tick from the worker's main thread."""
        self._thread.call_soon(self._take, tick)

    # On the loop

    async def _open(self) -> None:
        self._client = make_async_client(settings.ROCKETSCOPE_REDIS_URL)
        self._division = Division(self._client, self._name, lambda: self._collected)
        await self._take_clusters(await self._database.run(_clusters))
        self._spawn(self._follow_clusters())
        self._spawn(self._run_late_slots())

    async def _close(self) -> None:
        await end_tasks(*self._tasks)
        await self._take_clusters({})
        if self._division is not None:
            with suppress(redis.RedisError, OSError):
                await self._division.leave()
        if self._client is not None:
            await self._client.aclose()

    async def _follow_clusters(self) -> None:
        """Take up new clusters and drop removed ones, forever."""
        while True:
            await asyncio.sleep(LOOK_FOR_CLUSTERS_SECONDS)
            try:
                await self._look_for_clusters()
            except DatabaseError as error:
                # Known clusters are still collected.
                logger.warning("which clusters there are was not read: %s", error)
            except Exception:
                logger.exception("clusters were not taken up; they are looked at again")

    async def _look_for_clusters(self) -> None:
        wanted = await self._database.run(_clusters)
        await self._take_clusters(wanted)
        names = frozenset(wanted)
        if names == self._alerting:
            return
        # Nobody judges any more whether what is wrong there is over.
        if await self._database.run(lambda: end_all_but(names, timezone.now())):
            self._deliverer.wake()
        self._alerting = names

    async def _take_clusters(self, wanted: Mapping[str, Wanted]) -> None:
        gone: dict[str, Collected] = {}
        for name, collected in list(self._collected.items()):
            found = wanted.get(name)
            if found is None or found.cluster != collected.connection.cluster:
                gone[name] = self._collected.pop(name)
                self._leases.remove(collected.collector.lease)
        for name in wanted.keys() - self._collected.keys() - gone.keys():
            self._begin(wanted[name])
        ends = await asyncio.gather(
            *(each.close() for each in gone.values()), return_exceptions=True
        )
        for name, end in zip(gone, ends, strict=True):
            if isinstance(end, Exception):
                logger.error("cluster=%s did not close: %r", name, end, exc_info=end)
        for name in wanted.keys() & gone.keys():
            self._begin(wanted[name])

    def _begin(self, wanted: Wanted) -> None:
        collected = self._make(wanted)
        self._collected[wanted.cluster.name] = collected
        self._leases.append(collected.collector.lease)
        collected.start()

    def _make(self, wanted: Wanted) -> Collected:
        assert self._client is not None  # noqa: S101 - opened before any cluster
        name = wanted.cluster.name
        lake, unique = settings.ROCKETSCOPE_LAKE_URL, f"{time.time_ns():x}"
        connection = ClusterConnection(wanted.cluster)
        collector = ClusterCollector(
            name,
            connection,
            client=self._client,
            layer=get_channel_layer(),
            keeper=Keeper(name, wanted.row, lake, unique),
            holder=self._name,
            wanted_strategies=_wanted_strategies_of(wanted.row),
            now_ms=lambda: round(time.time() * 1000),
            chance=self._chance,
            wake_sender=self._deliverer.wake,
            division=self._division,
        )
        return Collected(connection, collector, self._client)

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _take(self, tick: Tick) -> None:
        now, missed = time.time(), self._schedule.left_out(tick)
        if not self._schedule.claim(tick, now):
            return
        self._timing.missed += missed
        if tick.timer == SWEEP_ALL:
            self._sweep_all(round((now - tick.due) * 1000), missed)
        else:
            for each in self._collected.values():
                each.spawn(each.collector.sweep_watched())

    def _sweep_all(self, late_ms: int, missed: int) -> None:
        held_ms = self._loop_watch.take_held_ms()
        self._timing.late_ms, self._timing.loop_held_ms = late_ms, held_ms
        late = lateness(late_ms, missed, held_ms)
        if late is not None:
            logger.warning(
                "the collector is late: began %d ms after its time, %d sweeps left "
                "out, nothing ran for %d ms",
                *(late_ms, missed, held_ms),
            )
        for each in self._collected.values():
            each.spawn(each.collector.sweep_all(late))
        self._spawn(self._publish_metrics())
        self._sweeps += 1
        if self._sweeps % GARBAGE_SWEEPS == 0:
            loop = asyncio.get_running_loop()
            loop.call_later(BETWEEN_SWEEPS_S, self._search_garbage)

    def _search_garbage(self) -> None:
        all_figures = [each.collector.figures for each in self._collected.values()]
        self._garbage.search(
            {(id(each), each.leads) for each in all_figures if each.leading}
        )

    async def _run_late_slots(self) -> None:
        while True:
            await asyncio.sleep(LOOK_FOR_LATE_SECONDS)
            self._loop_watch.beat()
            for slot in self._schedule.overdue(time.time()):
                self._take(asked(slot, FALLBACK))

    async def _publish_metrics(self) -> None:
        figures = {
            name: {
                **asdict(each.collector.figures),
                "pending_rows": each.collector.keeper.pending_rows,
                "dropped_rows": each.collector.keeper.dropped,
                "lake_failing": int(each.collector.keeper.lake_error is not None),
            }
            for name, each in self._collected.items()
        }
        text = orjson.dumps(
            {"role": "collector", "clusters": figures, "worker": asdict(self._timing)}
        )
        assert self._client is not None  # noqa: S101 - opened before any tick
        try:
            key = metrics_key(self._name)
            await self._client.set(key, text, ex=METRICS_KEPT_SECONDS)
        except (redis.RedisError, OSError) as error:
            logger.warning("figures not published: %s", error)


def _wanted_strategies_of(cluster_id: int) -> Callable[[], dict[str, WantedStrategy]]:
    return lambda: load_wanted_strategies(cluster_id)


def _clusters() -> dict[str, Wanted]:
    rows = dict(Cluster.objects.values_list("name", "pk"))
    return {
        name: Wanted(cluster, rows[name])
        for name, cluster in clusters_now().items()
        if name in rows
    }
