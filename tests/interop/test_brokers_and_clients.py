"""What brokers and clients report on themselves, beside Apache's admin tool."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from dashboard.collector.replicas import replicas_of
from dashboard.collector.runtime_info import figures_of
from dashboard.gateway.broker_runtime import Told, ask_brokers
from dashboard.gateway.client_info import ask_client
from dashboard.gateway.producers import ask_producers
from dashboard.gateway.settings import ClusterSettings
from rmqcore.admin import Admin
from tests.support.java_driver import AdminTool
from tests.support.waiting import until_seen

from .sides import Side, until
from .versions import OLDER_TOO

pytestmark = pytest.mark.interop

WITHOUT_MESSAGES = {
    *("rates_in", "rates_out", "earliest_at", "log_min", "index_disk_ratio"),
}
"""Unknown while a broker is young or holds no messages."""


@OLDER_TOO
async def test_a_broker_reports_what_its_release_has(
    admin: Admin, version: str
) -> None:
    addresses = [str(broker.master) for broker in await admin.brokers()]

    async def look() -> list[Told]:
        return await ask_brokers(admin, addresses, addresses, addresses)

    # A broker of Java cannot tell in its first second, and has no rates in the first
    # ten; the clusters of these tests may be that young.
    for told in await until_seen(look, lambda all_told: not any(map(failed, all_told))):
        assert told.table is not None
        assert told.settings is not None
        assert told.settings["brokerRole"] == "ASYNC_MASTER"
        assert told.settings["diskMaxUsedSpaceRatio"] == "95"
        if version > "5":
            nobody = {"in_sync": 0, "followers": []}
            assert replicas_of(told) == (nobody, None)
        else:
            assert replicas_of(told) == (None, "older_broker")
        figures, unknown = figures_of(told.table)
        assert figures["version"] == "V" + version.replace(".", "_")
        older = set() if version > "5" else {"active"}
        assert older <= unknown.keys() <= older | WITHOUT_MESSAGES
        assert {unknown[name] for name in older} <= {"older_broker"}
        assert {"send", "pull"} <= {pool["name"] for pool in figures["pools"]}
        assert (figures["disk_total"] or 0) > 1 << 30


def failed(told: Told) -> bool:
    return bool(told.error or told.settings_error)


async def test_the_admin_tool_prints_the_same(
    side: Side, name: str, tmp_path: Path
) -> None:
    cluster = ClusterSettings("east", (side.nameserver,))
    await side.create_topic(name, 2)
    await side.produce_java(name, 4)
    client_id = await side.start_java(name, group=name, topic=name)
    await until(lambda: len(side.java_bodies(name)) == 4)
    async with side.admin() as admin:
        address = str((await admin.brokers())[0].master)
        (told,) = await ask_brokers(admin, [address])
    info = await asyncio.to_thread(ask_client, cluster, name, client_id, stacks=True)
    producers = await asyncio.to_thread(ask_producers, cluster)
    with AdminTool(tmp_path) as tool:
        status = tool.run("brokerStatus", "-b", address, "-n", side.nameserver)
        consumer = tool.run(
            *("consumerStatus", "-g", name, "-i", client_id, "-s", "true"),
            *("-n", side.nameserver),
        )
    await side.stop_java(name)
    # One key for each line, in the broker's own words.
    keys = {line.partition(":")[0].strip() for line in status.splitlines() if line}
    assert told.table is not None
    assert keys == set(told.table)
    for name_, value in info.properties.items():
        if name_ != "PROP_CONSUMER_START_TIMESTAMP":
            assert f"{name_:<40}: {value}" in consumer
    assert info.stacks is not None
    assert "ConsumeMessageThread_" in info.stacks
    assert "ConsumeMessageThread_" in consumer
    assert name in {queue.topic for queue in info.queues}
    assert sum(queue.topic == name for queue in info.queues) == 4
    assert not producers.silent
    assert "CLIENT_INNER_PRODUCER" in {row.group for row in producers.rows}
