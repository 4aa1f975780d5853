"""The collector on a real embedded cluster: joins, leaves, silent brokers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from dashboard import models
from dashboard.collector.cluster_collector import ClusterCollector
from dashboard.gateway.connections import ClusterConnection
from dashboard.live.documents import GroupState, Overview
from dashboard.live.state import live_state, make_async_client
from dashboard.live.tasks import end_tasks
from tests.support.cluster import join, local_cluster, produce, settings_of
from tests.support.collectors import make_collector
from tests.support.valkey import Valkey
from tests.support.waiting import until_seen

pytestmark = pytest.mark.django_db(transaction=True)

SWEEP_SECONDS = 0.2


@asynccontextmanager
async def collecting(
    connection: ClusterConnection, valkey: Valkey, folder: Path
) -> AsyncIterator[ClusterCollector]:
    """Collect with a watched sweep every 0.2 s, as ticks would."""
    row = await models.Cluster.objects.acreate(name="east")
    client = make_async_client(valkey.url)
    collector = make_collector(row, connection, client, folder)

    async def sweep() -> None:
        while True:
            live_state().watch("east", "billing", time.time())
            await collector.sweep_watched()
            await asyncio.sleep(SWEEP_SECONDS)

    await collector.sweep_all()
    tasks = [
        asyncio.ensure_future(sweep()),
        asyncio.ensure_future(collector.follow_notices()),
    ]
    yield collector
    ended = [task for task in tasks if task.done()]
    await end_tasks(*tasks)
    for task in ended:  # it looks for ever, unless something is wrong
        task.result()
    await collector.close()
    await client.aclose()


def blocks(document: GroupState | None) -> dict[str, list[int]]:
    """Return the queue ids by the label of their reported owner."""
    found: dict[str, list[int]] = {}
    for queue in document["queues"] if document else []:
        if queue["owner_source"] == "reported" and len(queue["owners"]) == 1:
            label = queue["owners"][0].partition("@")[2]
            found.setdefault(label, []).append(queue["queue_id"])
    return found


async def shown() -> dict[str, list[int]]:
    return blocks(live_state().group("east", "billing"))


def ids(first: int, last: int) -> list[int]:
    return list(range(first, last + 1))


async def test_shows_the_division_after_each_join_and_leave(
    valkey: Valkey, tmp_path: Path
) -> None:
    async with local_cluster() as cluster:
        await produce(cluster, 16)
        one = await join(cluster, "m1")
        connection = ClusterConnection(settings_of(cluster))
        async with collecting(connection, valkey, tmp_path):
            await until_seen(shown, lambda s: s == {"m1": ids(0, 15)})
            two = await join(cluster, "m2")
            await until_seen(shown, lambda s: s == {"m1": ids(0, 7), "m2": ids(8, 15)})
            three = await join(cluster, "m3")
            await until_seen(
                shown,
                lambda s: s == {"m1": ids(0, 5), "m2": ids(6, 10), "m3": ids(11, 15)},
            )
            await two.shutdown()
            await until_seen(shown, lambda s: s == {"m1": ids(0, 7), "m3": ids(8, 15)})
            document = live_state().group("east", "billing")
            for consumer in (one, three):
                await consumer.shutdown()
        await connection.close()
    assert document is not None
    assert document["strategy"] == {"name": "AVG", "source": "reported"}
    assert document["last_change"] is not None
    assert document["last_change"]["text_key"] == "member_left"
    assert {m["label"]: m["slot"] for m in document["members"]} == {"m1": 0, "m3": 2}
    causes = models.Epoch.objects.order_by("number").values_list("cause", flat=True)
    assert [cause async for cause in causes][:4] == [
        "first_seen",
        "member_joined",
        "member_joined",
        "member_left",
    ]


async def test_an_idle_member_says_why(valkey: Valkey, tmp_path: Path) -> None:
    async with local_cluster(queues=1) as cluster:
        members = [await join(cluster, name) for name in ("m1", "m2")]
        connection = ClusterConnection(settings_of(cluster))

        async def idle() -> list[str | None]:
            document = live_state().group("east", "billing")
            return [m["idle"] for m in document["members"]] if document else []

        async with collecting(connection, valkey, tmp_path):
            await until_seen(
                idle, lambda seen: seen == [None, "more_members_than_queues"]
            )
        for consumer in members:
            await consumer.shutdown()
        await connection.close()


async def test_a_broker_that_does_not_answer_is_shown_as_silent(
    valkey: Valkey, tmp_path: Path
) -> None:
    async with local_cluster(brokers=2) as cluster:
        connection = ClusterConnection(settings_of(cluster))
        async with collecting(connection, valkey, tmp_path) as collector:
            # It stays connected to the name server, or it would not be listed.
            await cluster.brokers["broker-b"]._server.stop()

            async def seen() -> Overview:
                await collector.sweep_all()
                overview = live_state().overview("east")
                assert overview is not None
                return overview

            overview = await until_seen(
                seen, lambda o: o["totals"]["brokers_answered"] == 1
            )
        await connection.close()
    (silent,) = (each for each in overview["brokers"] if not each["answered"])
    assert silent["name"] == "broker-b"
    assert silent["error"]
