"""Members of the fleet on a real embedded cluster, collected into a lake."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from pyarrow import parquet

from analytics import contracts as c
from analytics.division import IN_USE, MEMBER_IDS, WEIGHTS, Candidate, Divider
from dashboard.collector.records import load_wanted_strategies
from dashboard.fleet.announcing import Announcer
from dashboard.fleet.host import FleetHost
from dashboard.fleet.planning import WorkerName
from dashboard.gateway.connections import ClusterConnection
from dashboard.live.state import live_state, make_async_client
from dashboard.models import Cluster, Epoch
from tests.dashboard.fleet.wishes import group
from tests.support.cluster import local_cluster, produce, settings_of
from tests.support.collectors import make_collector
from tests.support.valkey import Valkey
from tests.support.waiting import until_seen

pytestmark = pytest.mark.django_db(transaction=True)

LISTS = {
    "1": [["orders", "broker-a", "0-2,15"]],
    "2": [["orders", "broker-a", "3-14"]],
}
"""Nothing that another strategy would come to."""


def divided(row: dict[str, Any]) -> dict[str, set[int]]:
    """Return which queues the back-test gives to whom in an epoch of the lake."""
    ids = [member[c.CLIENT_ID] for member in row[c.MEMBERS]]
    in_use = Candidate(IN_USE, IN_USE)
    divider = Divider([in_use])
    columns = divider.divide(row | {MEMBER_IDS: ids, WEIGHTS: None})
    found: dict[str, set[int]] = {}
    for values in zip(*columns, strict=True):
        queue = dict(zip(divider.columns, values, strict=True))
        owner = ids[queue[in_use.column]]
        found.setdefault(owner, set()).add(queue[c.QUEUE_ID])
    return found


def shown() -> dict[str, set[int]]:
    """Return which queues the members themselves say that they hold."""
    document = live_state().group("east", "billing")
    found: dict[str, set[int]] = {}
    for queue in document["queues"] if document else []:
        if queue["owner_source"] == "reported" and len(queue["owners"]) == 1:
            found.setdefault(queue["owners"][0], set()).add(queue["queue_id"])
    return found


def running_options() -> dict[str, Any] | None:
    epoch = Epoch.objects.filter(group="billing", ended_by=None).first()
    return epoch.options if epoch else None


async def test_an_epoch_of_members_with_lists_is_divided_as_they_hold(
    valkey: Valkey, tmp_path: Path
) -> None:
    async with local_cluster() as embedded:
        await produce(embedded, 16)
        settings = settings_of(embedded)
        wished = await sync_to_async(group)(
            2, strategy="CONFIG", strategy_options={"config": LISTS}
        )
        client = make_async_client(valkey.url)
        host = FleetHost(
            WorkerName("w1", "here", 1, datetime.now(UTC)),
            clusters=lambda: {"east": settings},
            announcer=Announcer(client),
            client=client,
            database=lambda work: sync_to_async(work)(),
        )
        connection = ClusterConnection(settings)
        cluster: Cluster = await Cluster.objects.aget(name="east")
        collector = make_collector(
            cluster,
            connection,
            client,
            tmp_path,
            wanted_strategies=lambda: load_wanted_strategies(cluster.pk),
        )

        async def step() -> tuple[set[int], dict[str, Any] | None]:
            await host.follow_once()
            await collector.sweep_all()
            owned = {queue for queues in shown().values() for queue in queues}
            return owned, await sync_to_async(running_options)()

        wanted = (set(range(16)), {"config": LISTS})
        await until_seen(step, lambda seen: seen == wanted, seconds=30)
        held = shown()
        await host.close()
        await collector.close()
        await connection.close()
        await client.aclose()
    rows = [
        row
        for path in (tmp_path / "landing" / c.EPOCHS).rglob("*.parquet")
        for row in parquet.ParquetFile(path).read().to_pylist()
    ]
    newest = max(rows, key=lambda row: row[c.TIME])
    assert newest[c.STRATEGY] == wished.strategy
    assert divided(newest) == held
    assert sorted(map(len, held.values())) == [4, 12]
