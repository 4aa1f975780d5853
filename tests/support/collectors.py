"""A collector of one cluster for tests, told the few things that a test cares about."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from random import Random

import redis.asyncio
from channels.layers import get_channel_layer

from dashboard.collector.cluster_collector import ClusterCollector, Source
from dashboard.collector.division import Division
from dashboard.collector.epochs import WantedStrategy
from dashboard.collector.keeping import Keeper
from dashboard.gateway.broker_runtime import Told
from dashboard.models import Cluster
from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import KnownBroker


class BrokersOfASource:
    """What a made-up source says of brokers: those that it was told of before.

    They tell no ages.
    """

    def __init__(self) -> None:
        self.known: dict[str, KnownBroker] = {}
        self.left: set[tuple[str, str]] = set()

    async def ages(
        self, wanted: Mapping[str, Collection[tuple[str, str]]]
    ) -> Mapping[str, Mapping[QueueKey, int]]:
        """Return no ages."""
        return {}

    async def runtimes(
        self,
        addresses: Sequence[str],
        with_settings: Collection[str],
        masters: Collection[str],
    ) -> Sequence[Told]:
        """Return no reports."""
        return ()

    def known_brokers(self) -> list[KnownBroker]:
        """Return the brokers that were seen."""
        return list(self.known.values())

    def remember_brokers(self, brokers: Sequence[KnownBroker]) -> None:
        """Take brokers that were there before."""
        for broker in brokers:
            self.known.setdefault(broker.name, broker)

    def forget_broker(self, name: str) -> bool:
        """Take a broker for gone."""
        return self.known.pop(name, None) is not None

    def note_member(self, group: str, client_id: str, *, left: bool) -> None:
        """Note who left."""
        (self.left.add if left else self.left.discard)((group, client_id))


def now_ms() -> int:
    """Return the time by the machine's clock."""
    return round(time.time() * 1000)


def make_collector(
    cluster: Cluster,
    source: Source,
    client: redis.asyncio.Redis,
    lake: Path,
    *,
    holder: str = "test",
    run: str = "run",
    wanted_strategies: Callable[[], Mapping[str, WantedStrategy]] = dict,
    clock: Callable[[], int] = now_ms,
    seed: int = 1,
    wake_sender: Callable[[], None] = lambda: None,
    division: Division | None = None,
) -> ClusterCollector:
    """Return a collector that nothing ticks; the caller closes it and the client."""
    return ClusterCollector(
        cluster.name,
        source,
        client=client,
        layer=get_channel_layer(),
        keeper=Keeper(cluster.name, cluster.pk, str(lake), run),
        holder=holder,
        wanted_strategies=wanted_strategies,
        now_ms=clock,
        chance=Random(seed),
        wake_sender=wake_sender,
        division=division,
    )
