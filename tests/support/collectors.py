"""A collector of one cluster for tests, told the few things that a test cares about."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import redis.asyncio
from channels.layers import get_channel_layer

from dashboard.collector.cluster_collector import ClusterCollector, Source
from dashboard.collector.epochs import Wish
from dashboard.collector.keeping import Keeper
from dashboard.models import Cluster


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
    wishes: Callable[[], Mapping[str, Wish]] = dict,
    clock: Callable[[], int] = now_ms,
    seed: int = 1,
) -> ClusterCollector:
    """Return a collector that nothing ticks; the caller closes it and the client."""
    return ClusterCollector(
        cluster.name,
        source,
        client=client,
        layer=get_channel_layer(),
        keeper=Keeper(cluster.name, cluster.pk, str(lake), run),
        holder=holder,
        wishes=wishes,
        now_ms=clock,
        chance=Random(seed),
    )
