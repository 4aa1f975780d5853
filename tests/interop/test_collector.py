"""The collector on a real Apache RocketMQ: its document follows Java clients."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from dashboard import models
from dashboard.gateway.connections import ClusterConnection
from dashboard.gateway.settings import ClusterSettings
from dashboard.live.documents import GroupState
from dashboard.live.state import live_state, make_async_client
from dashboard.live.tasks import end_tasks
from rmqcore.admin import Admin
from tests.support.apache import ApacheCluster
from tests.support.collectors import make_collector
from tests.support.java_driver import JavaDriver
from tests.support.java_members import AT_REST_S, member_lists
from tests.support.valkey import Valkey, valkey, valkey_server
from tests.support.waiting import until_seen

from .versions import OLDER_TOO

pytestmark = [
    pytest.mark.interop,
    OLDER_TOO,
    pytest.mark.django_db(transaction=True),
]

__all__ = ["valkey", "valkey_server"]

QUEUES_PER_BROKER = 8


@pytest.fixture
async def watched(
    apache: ApacheCluster, valkey: Valkey, name: str, tmp_path: Path
) -> AsyncIterator[str]:
    """A group that is watched while the collector sweeps as beat's ticks make it."""
    row = await models.Cluster.objects.acreate(name="apache")
    settings = ClusterSettings("apache", (apache.nameserver,))
    connection = ClusterConnection(settings)
    client = make_async_client(valkey.url)
    collector = make_collector(row, connection, client, tmp_path)

    async def tick() -> None:
        for second in count():
            if second % 10 == 0:
                await collector.sweep_all()
            live_state().watch("apache", name, time.time())
            await collector.sweep_watched()
            await asyncio.sleep(1)

    tasks = [
        asyncio.ensure_future(tick()),
        asyncio.ensure_future(collector.follow_notices()),
    ]
    yield name
    ended = [task for task in tasks if task.done()]
    await end_tasks(*tasks)
    for task in ended:  # it looks for ever, unless something is wrong
        task.result()
    await collector.close()
    await connection.close()
    await client.aclose()


def reported(document: GroupState | None) -> dict[str, list[Any]]:
    """Return each member's queues, where all of them are reported once."""
    found: dict[str, list[Any]] = {}
    for queue in document["queues"] if document else []:
        if queue["owner_source"] != "reported" or len(queue["owners"]) != 1:
            return {}
        key = (queue["topic"], queue["broker"], queue["queue_id"])
        found.setdefault(queue["owners"][0], []).append(key)
    return found


async def test_the_document_follows_java_consumers(
    apache: ApacheCluster, java: JavaDriver, admin: Admin, watched: str
) -> None:
    name = watched
    await admin.create_topic(name, QUEUES_PER_BROKER)
    clients = {
        member: await asyncio.to_thread(
            java.start_consumer, member, group=name, topic=name
        )
        for member in (f"{name}-{letter}" for letter in "abc")
    }

    async def seen() -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
        said = {
            client_id: await asyncio.to_thread(java.queues, member)
            for member, client_id in clients.items()
        }
        return reported(live_state().group("apache", name)), said

    def agree(both: tuple[dict[str, list[Any]], dict[str, list[Any]]]) -> bool:
        shown, said = both
        return shown == said and sum(map(len, said.values())) == 16

    lists = partial(member_lists, apache.nameserver, name)
    await until_seen(seen, agree, seconds=AT_REST_S, explain=lists)
    await asyncio.to_thread(java.stop_consumer, f"{name}-b")
    del clients[f"{name}-b"]
    await until_seen(seen, agree, seconds=AT_REST_S, explain=lists)
    document = live_state().group("apache", name)
    assert document is not None
    assert [m["language"] for m in document["members"]] == ["JAVA", "JAVA"]
    assert document["strategy"] == {"name": "AVG", "source": "reported"}
    assert document["last_change"] is not None
    assert document["last_change"]["text_key"] == "member_left"
