"""Plays a history to the real collector; keeps what readers see after each step.

What is real: `rmqcore.admin` from bytes to snapshots (over a network in memory), the
collector with its keeper, epochs and samples, Valkey, the database and the lake's
files. What is not: time, which the network makes, and the order in which looks are
taken, which the history says. Nothing sleeps.

Each history has a cluster name of its own, so that none has to be wiped away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final, cast

import orjson
import pyarrow.parquet as pq
from channels.layers import InMemoryChannelLayer

from dashboard import models
from dashboard.collector.cluster_collector import ClusterCollector
from dashboard.collector.keeping import Keeper
from dashboard.gateway.broker_runtime import Told
from dashboard.gateway.connections import ClusterConnection
from dashboard.gateway.settings import ClusterSettings
from dashboard.live.documents import GroupState
from dashboard.live.names import (
    group_key,
    lease_key,
    live_group_name,
    overview_key,
    watch_key,
)
from dashboard.live.state import WATCH_SECONDS, make_async_client
from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import ClusterSnapshot, KnownBroker

from .brokers import NAME_SERVER_ADDRESSES, StrangeCluster
from .histories import History, Look, Step
from .naming import Naming
from .network import Network
from .story import Asked, Seen, Story, logged
from .truth import Truth

ATTEMPTS: Final = 5
"""A lease lasts 5 s of true time; a machine that busy makes another story of it."""

_numbers = count(1)


def play(history: History, *, valkey_url: str, folder: Path) -> Story:
    """Return what the collector makes of a history; needs a database."""
    for _ in range(ATTEMPTS):
        cluster = f"strange-{next(_numbers)}"
        row = models.Cluster.objects.create(name=cluster)
        story = Story(cluster, history)
        driver = _Driver(story, row.pk, valkey_url, folder / cluster)
        asyncio.run(driver.play())
        if not driver.disturbed:
            break
    else:
        raise RuntimeError(f"the lease ran out {ATTEMPTS} times: too busy a machine")
    story.samples = _samples(folder / cluster)
    story.epochs = list(models.Epoch.objects.filter(cluster=row).order_by("number"))
    story.events = list(
        models.OwnershipEvent.objects.filter(cluster=row).order_by("pk")
    )
    return story


class _Source:
    """The gateway's connection, on the network; a sweep can be held until later."""

    def __init__(self, network: Network, connection: ClusterConnection) -> None:
        self.asked: list[Asked] = []
        self.held: asyncio.Event | None = None
        self.taken = asyncio.Event()
        self._network = network
        self._connection = connection

    async def snapshot(self) -> ClusterSnapshot:
        return await self._take(None, self._connection.snapshot)

    async def groups(self, names: Collection[str]) -> ClusterSnapshot:
        wanted = frozenset(names)
        return await self._take(wanted, lambda: self._connection.groups(wanted))

    async def ages(
        self, wanted: Mapping[str, Collection[tuple[str, str]]]
    ) -> Mapping[str, Mapping[QueueKey, int]]:
        work = partial(self._connection.ages, wanted)
        return await self._network.run(work)

    async def runtimes(
        self,
        addresses: Sequence[str],
        with_settings: Collection[str],
        masters: Collection[str],
    ) -> Sequence[Told]:
        """Return no reports."""
        return ()

    def known_brokers(self) -> Sequence[KnownBroker]:
        return self._connection.known_brokers()

    def remember_brokers(self, brokers: Sequence[KnownBroker]) -> None:
        self._connection.remember_brokers(brokers)

    def forget_broker(self, name: str) -> bool:
        return self._connection.forget_broker(name)

    def note_member(self, group: str, client_id: str, *, left: bool) -> None:
        self._connection.note_member(group, client_id, left=left)

    async def _take(
        self, groups: frozenset[str] | None, work: Callable[[], Any]
    ) -> ClusterSnapshot:
        self.asked.append(Asked(self._network.time_ms(), groups))
        held, self.held = self.held, None
        try:
            return cast(ClusterSnapshot, await self._network.run(work))
        finally:
            if held is not None:
                self.taken.set()
                await held.wait()


class _Driver:
    def __init__(self, story: Story, pk: int, valkey_url: str, folder: Path) -> None:
        self._story = story
        self._pk = pk
        self._folder = folder
        self._network = Network()
        self._cluster = StrangeCluster(self._network)
        self._connection = ClusterConnection(
            ClusterSettings(story.cluster, NAME_SERVER_ADDRESSES), self._network
        )
        self._source = _Source(self._network, self._connection)
        self._client = make_async_client(valkey_url)
        self._layer = InMemoryChannelLayer(capacity=1_000_000)
        self._channels: dict[str, str] = {}
        self._overtaken: tuple[asyncio.Task[None], asyncio.Event] | None = None
        self._named = Naming()
        self._collectors: list[ClusterCollector] = []
        self._collector = self._new_collector()

    @property
    def disturbed(self) -> bool:
        """Tell whether a lead was lost of which the history says nothing."""
        return any(each.figures.leads > 1 for each in self._collectors)

    async def play(self) -> None:
        """Play all steps, then close what was opened."""
        history = self._story.history
        behind: Truth | None = None
        with logged() as faults:
            for step, truths in zip(history.steps, history.truths(), strict=True):
                self._network.advance(step.after_s)
                seen = await self._step(step, *truths, behind or truths[0])
                behind = truths[0]
                self._story.seen.append(replace(seen, faults=tuple(faults)))
                faults.clear()
            await self._end()
            self._story.last_faults = tuple(faults)

    async def _step(
        self, step: Step, before: Truth, after: Truth, behind: Truth
    ) -> Seen:
        await self._listen({*before.groups, *after.groups})
        began = self._network.time_ms()
        await self._network.run(lambda: self._cluster.play(step, before, after, behind))
        self._source.asked.clear()
        await self._look(step.look)
        asked = tuple(self._source.asked)
        if asked:
            at_ms = asked[-1].at_ms
            self._named = self._named.after(step, after.brokers, at_ms)
        self._network.advance(0.001)
        return Seen(
            step,
            before,
            after,
            behind,
            began,
            self._network.time_ms(),
            await self._documents(),
            await self._read(overview_key(self._story.cluster)),
            {group: await self._heard(name) for group, name in self._channels.items()},
            asked,
            (),
            self._named,
        )

    # Looks

    async def _look(self, look: Look) -> None:
        if look == "handed over":
            await self._collector.close()
            self._collector = self._new_collector()
        overtaken, self._overtaken = self._overtaken, None
        if look == "watched" or overtaken is not None:
            await self._collector.sweep_watched()
        elif look == "overtaken":
            self._overtaken = await self._begin_sweep()
        else:
            await self._collector.sweep_all()
        await self._collector.at_rest()
        if overtaken is not None:
            task, released = overtaken
            released.set()
            await task

    async def _begin_sweep(self) -> tuple[asyncio.Task[None], asyncio.Event]:
        """Begin a sweep whose answers have come and are not yet taken in."""
        released = asyncio.Event()
        self._source.held = released
        self._source.taken.clear()
        task = asyncio.ensure_future(self._collector.sweep_all())
        taken = asyncio.ensure_future(self._source.taken.wait())
        await asyncio.wait({task, taken}, return_when=asyncio.FIRST_COMPLETED)
        taken.cancel()
        return task, released

    # Readers

    async def _listen(self, groups: set[str]) -> None:
        """Watch all groups from when they are there, as one browser would for each."""
        await self._client.persist(lease_key(self._story.cluster))
        if not self._story.history.watched:
            return
        until = self._network.time_ms() / 1000 + WATCH_SECONDS
        watches = dict.fromkeys({*groups, *self._channels}, until)
        if watches:
            await self._client.zadd(watch_key(self._story.cluster), watches)
        for group in groups - self._channels.keys():
            channel = self._channels[group] = await self._layer.new_channel()
            name = live_group_name(self._story.cluster, group)
            await self._layer.group_add(name, channel)

    async def _documents(self) -> dict[str, GroupState]:
        start = group_key(self._story.cluster, "")
        keys = [key.decode() for key in await self._client.keys(f"{start}*")]
        found = {key.removeprefix(start): await self._read(key) for key in keys}
        return {name: state for name, state in found.items() if state is not None}

    async def _read(self, key: str | bytes) -> Any:
        text = await self._client.get(key)
        return None if text is None else orjson.loads(text)

    async def _heard(self, channel: str) -> list[dict[str, Any]]:
        heard = []
        queue = self._layer.channels.get(channel)
        while queue is not None and not queue.empty():
            message = await self._layer.receive(channel)
            heard.append(orjson.loads(message["text"]))
        return heard

    # Begin and end

    def _new_collector(self) -> ClusterCollector:
        number = len(self._collectors) + 1
        folder = str(self._folder)
        cluster = self._story.cluster
        collector = ClusterCollector(
            cluster,
            self._source,
            client=self._client,
            layer=self._layer,
            keeper=Keeper(cluster, self._pk, folder, f"run{number}"),
            holder=f"collector-{number}",
            wanted_strategies=dict,
            now_ms=self._network.time_ms,
            chance=Random(number),
            wake_sender=lambda: None,
        )
        self._collectors.append(collector)
        return collector

    async def _end(self) -> None:
        if self._overtaken is not None:
            task, released = self._overtaken
            released.set()
            await task
        await self._collector.close()
        await self._network.run(self._connection.close)
        await self._client.aclose()
        self._network.close()


def _samples(folder: Path) -> list[dict[str, Any]]:
    rows = []
    for path in sorted(folder.rglob("*.parquet")):
        if "samples" in str(path.relative_to(folder)):
            rows += pq.read_table(path).to_pylist()
    return rows
