"""A lab on an embedded cluster with the real collector looking on.

The collector sweeps all the time. Where the lab has brought its group to a point to be
seen, it waits while the collector looks some more times, with its clock put on between
looks: rules that need a thing to last see it last, and nobody waits for that long.
"""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from dashboard import models
from dashboard.collector.cluster_collector import ClusterCollector
from dashboard.gateway.broker_runtime import Told
from dashboard.gateway.connections import ClusterConnection
from dashboard.gateway.settings import ClusterSettings
from dashboard.live.documents import GroupState
from dashboard.live.state import live_state, make_async_client
from rmqcore.cluster import LocalCluster
from rmqcore.labs import LabResult, lab_named
from rmqcore.labs.clock import HurriedClock
from rmqcore.labs.member import Member
from rmqcore.labs.results import Division, Progress
from rmqcore.labs.stage import Stage
from rmqcore.transport import SystemClock
from tests.support.cluster import settings_of
from tests.support.collectors import make_collector
from tests.support.valkey import Valkey

CLUSTER = "lab"
SWEEP_SECONDS = 0.1


class PutOnClock(SystemClock):
    """The machine's clock, put on by hand."""

    __slots__ = ("ahead_ms",)

    def __init__(self) -> None:
        self.ahead_ms = 0

    def time_ms(self) -> int:
        return super().time_ms() + self.ahead_ms

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead_ms / 1000


class SparingConnection(ClusterConnection):
    """A connection that asks brokers about themselves once.

    A broker of Apache 5.x counts two weeks of its timer wheel for each such answer,
    and no finding about a group depends on it.
    """

    _told = False

    async def runtimes(
        self,
        addresses: Sequence[str],
        with_settings: Collection[str],
        masters: Collection[str],
    ) -> Sequence[Told]:
        if self._told:
            return []
        self._told = True
        return await super().runtimes(addresses, with_settings, masters)


class Onlooker:
    """The collector of one cluster, and every finding it ever showed, by group."""

    def __init__(
        self, collector: ClusterCollector, clock: PutOnClock, nameserver: str
    ) -> None:
        self.nameserver = nameserver
        self.found: dict[str, set[str]] = defaultdict(set)
        self._collector, self._clock = collector, clock
        self.done = False
        self._looking = asyncio.Lock()

    async def look(self, times: int = 1, apart_ms: int = 0) -> None:
        """Sweep; the clock is put on before each time."""
        for _ in range(times):
            async with self._looking:
                self._clock.ahead_ms += apart_ms
                await self._collector.sweep_all()
                overview = live_state().overview(CLUSTER)
                for row in overview["groups"] if overview else ():
                    marks = row["findings"]
                    self.found[row["group"]] |= {mark["key"] for mark in marks}

    async def look_always(self, every_s: float) -> None:
        """Look until `done`: a sweep is let end, not cut off in the middle."""
        while not self.done:
            await self.look()
            await asyncio.sleep(every_s)

    def paused(self) -> asyncio.Lock:
        """Return what holds looks back while it is entered."""
        return self._looking

    def document(self, group: str) -> GroupState | None:
        return live_state().group(CLUSTER, group)


class WatchedStage(Stage):
    """A stage whose lab waits for the onlooker wherever there is something to see."""

    onlooker: Onlooker
    looks: tuple[int, int]
    _busy = False

    async def seen(self) -> None:
        await self.onlooker.look(*self.looks)

    async def rest(self, topic: str, members: Iterable[Member], after: str) -> Division:
        division = await super().rest(topic, members, after)
        await self.seen()
        return division

    async def leave(self, member: Member) -> None:
        await super().leave(member)
        await self.seen()

    async def die(self, member: Member) -> None:
        await super().die(member)
        await self.seen()

    async def persist(self, members: Iterable[Member]) -> None:
        await super().persist(members)
        if not self._busy:
            await self.seen()

    async def all_committed(
        self,
        group: str,
        topic: str,
        members: Collection[Member],
        *,
        takes_s: float = 0.0,
    ) -> Progress:
        self._busy = True
        try:
            return await super().all_committed(group, topic, members, takes_s=takes_s)
        finally:
            self._busy = False


async def play_watched(
    name: str,
    valkey: Valkey,
    folder: Path,
    *,
    looks: tuple[int, int] = (4, 3_000),
    most_pace: float = math.inf,
) -> tuple[LabResult, Onlooker]:
    """Play a lab to its end; `looks` is how often to look at each point, how far apart.

    Returns its result and what the collector found meanwhile. Its time passes at most
    `most_pace` times as fast as the machine's.
    """
    lab = lab_named(name)
    pace = min(lab.pace, most_pace)
    clock = HurriedClock(pace)
    async with (
        LocalCluster(clock=clock) as cluster,
        looking_on(settings_of(cluster), valkey, folder / "lake") as onlooker,
    ):
        stage = WatchedStage(
            lab.name,
            lab.texts,
            cluster.nameserver_address,
            clock=clock,
            pace=pace,
            directory=folder,
            observer=lambda step: None,
        )
        stage.onlooker, stage.looks = onlooker, looks
        try:
            result = await lab.play(stage, lab.parameters_of({}))
            await stage.seen()
        finally:
            await stage.close(clean_up=False)
        return result, onlooker


@asynccontextmanager
async def looking_on(
    cluster: ClusterSettings,
    valkey: Valkey,
    lake: Path,
    *,
    every_s: float = SWEEP_SECONDS,
) -> AsyncIterator[Onlooker]:
    """Collect a cluster for as long as the context lasts."""
    row = await models.Cluster.objects.acreate(name=CLUSTER)
    clock = PutOnClock()
    connection = SparingConnection(cluster, clock)
    client = make_async_client(valkey.url)
    collector = make_collector(row, connection, client, lake, clock=clock.time_ms)
    onlooker = Onlooker(collector, clock, cluster.name_servers[0])
    always = asyncio.ensure_future(onlooker.look_always(every_s))
    try:
        yield onlooker
    finally:
        onlooker.done = True
        await always
        await collector.close()
        await connection.close()
        await client.aclose()
