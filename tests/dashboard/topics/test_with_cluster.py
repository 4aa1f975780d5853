"""The document and the questions of topics against a running cluster."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dashboard import models
from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.connections import ClusterConnection
from dashboard.gateway.topic_questions import ask_topic
from dashboard.live.state import live_state, make_async_client
from dashboard.models import Role
from dashboard.topics.configuration import compared, route_lines
from rmqcore.admin import Admin
from tests.dashboard.conftest import SignIn
from tests.dashboard.overview.test_pages import text_of
from tests.support.cluster import (
    join,
    local_cluster,
    name_a_dead_broker,
    produce,
    settings_of,
)
from tests.support.collectors import make_collector
from tests.support.valkey import Valkey

pytestmark = pytest.mark.django_db(transaction=True)


async def test_offsets_and_route_are_those_that_the_cluster_tells(
    valkey: Valkey, tmp_path: Path
) -> None:
    async with local_cluster(queues=4) as cluster:
        await produce(cluster, 10)
        member = await join(cluster, "m1")
        row = await models.Cluster.objects.acreate(name="east")
        client = make_async_client(valkey.url)
        connection = ClusterConnection(settings_of(cluster))
        collector = make_collector(row, connection, client, tmp_path)
        await collector.sweep_all()
        await collector.sweep_all()
        document = live_state().topics("east")
        async with Admin(cluster.nameserver_address) as admin:
            stats = await admin.topic_stats("orders")
            route = await admin.topic_route("orders")
        answers = await asyncio.to_thread(ask_topic, settings_of(cluster), "orders")
        await collector.close()
        await client.aclose()
        await connection.close()
        await member.shutdown()
    assert document is not None
    shown = {each["topic"]: each for each in document["topics"]}
    orders = shown["orders"]
    broker = orders["brokers"][0]
    assert {
        queue: (low, high)
        for queue, low, high in zip(
            broker["ids"], broker["min"], broker["max"], strict=True
        )
    } == {
        queue.queue_id: (told.min_offset, told.max_offset)
        for queue, told in stats.items()
    }
    assert (broker["read"], broker["write"], broker["perm"]) == (4, 4, 6)
    assert [each["group"] for each in orders["groups"]] == ["billing"]
    assert orders["groups"][0]["reads"] is True
    assert orders["held"] == 10
    assert shown["TBW102"]["kind"] == "system"
    [line] = route_lines(answers)
    assert (line.read, line.write) == (
        route.queues[0].read_queue_nums,
        route.queues[0].write_queue_nums,
    )
    settings = {each.name: each for each in compared(answers)}
    assert list(settings["readQueueNums"].values) == ["4"]
    assert not settings["readQueueNums"].differs
    assert answers.errors == {}


async def test_what_a_silent_broker_did_not_tell_is_not_called_the_same_or_none(
    sign_in: SignIn, valkey: Valkey, settings: Any
) -> None:
    viewer = await asyncio.to_thread(sign_in, Role.VIEWER)
    async with local_cluster(queues=4) as cluster:
        settings.ROCKETSCOPE_CLUSTERS = {"east": settings_of(cluster)}
        await asyncio.to_thread(sync_clusters, settings.ROCKETSCOPE_CLUSTERS)
        address = "/clusters/east/topics/orders/configuration/"
        whole = text_of(await asyncio.to_thread(viewer.get, address))
        name_a_dead_broker(cluster, "broker-0")
        partly = text_of(await asyncio.to_thread(viewer.get, address))
    assert "readQueueNums 4 same" in whole
    assert "No producer is connected." in whole
    assert "readQueueNums 4 — No answer in time — No answer in time" in partly
    assert "Not known: not every broker has listed its producers." in partly
