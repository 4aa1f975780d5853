"""A real broker falls silent: what pages read is held to what was true.

The short form of `python -m benchmarks.silence`, with the same judge.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.seven_groups import BY_NAME, SevenGroups, send_traffic
from benchmarks.silence.judging import (
    Document,
    Fault,
    Judge,
    is_marked,
    is_whole,
    says_silence,
)
from benchmarks.silence.truth import Silence, Truth
from benchmarks.silence.watching import Reader, now_ms
from dashboard import models
from dashboard.gateway.connections import ClusterConnection
from dashboard.gateway.settings import ClusterSettings
from dashboard.live.state import live_state, make_async_client
from dashboard.live.tasks import end_tasks
from tests.support.apache import BRIEF, ApacheCluster, start_cluster
from tests.support.collectors import make_collector
from tests.support.java_members import AT_REST_S
from tests.support.valkey import Valkey, valkey, valkey_server
from tests.support.waiting import until_seen

pytestmark = [pytest.mark.interop, pytest.mark.django_db(transaction=True)]

__all__ = ["valkey", "valkey_server"]

GROUP = BY_NAME["g_slow"]
SILENT = "broker-a"
SILENT_S = 10.0
TOLERANCE_S = 3.0
MESSAGES = 40.0


@pytest.fixture
def apache(tmp_path: Path) -> Any:
    """A cluster of its own: others would suffer from its silence."""
    with start_cluster(tmp_path / "apache", brokers=2, jvm_options=BRIEF) as cluster:
        yield cluster


@pytest.fixture
def members(apache: ApacheCluster, tmp_path: Path) -> Any:
    """Two slow Java members of one group."""
    groups = SevenGroups(apache.nameserver, tmp_path / "java", [GROUP])
    try:
        groups.start()
        yield groups
    finally:
        groups.stop()


@pytest.fixture
async def truth(
    apache: ApacheCluster, members: SevenGroups, valkey: Valkey, tmp_path: Path
) -> AsyncIterator[Truth]:
    """What is true, read beside a collector that sweeps as beat's ticks make it."""
    row = await models.Cluster.objects.acreate(name="apache")
    connection = ClusterConnection(ClusterSettings("apache", (apache.nameserver,)))
    client = make_async_client(valkey.url)
    collector = make_collector(row, connection, client, tmp_path / "lake")

    async def watch() -> None:
        live_state().watch("apache", GROUP.name, time.time())
        await collector.sweep_watched()

    found = Truth()
    reader = Reader(found, apache.nameserver, apache.brokers, [GROUP])
    traffic = send_traffic(apache.nameserver, tuple(apache.brokers), MESSAGES, [GROUP])
    tasks = [
        asyncio.ensure_future(each)
        for each in (
            ticking(collector.sweep_all, 10.0),
            ticking(watch, 1.0),
            collector.follow_notices(),
            reader.run(),
            traffic,
        )
    ]
    yield found
    ended = [task for task in tasks if task.done()]
    await end_tasks(*tasks)
    for task in ended:  # they go on for ever, unless something is wrong
        task.result()
    await collector.close()
    await connection.close()
    await client.aclose()


async def ticking(work: Callable[[], Awaitable[None]], every_s: float) -> None:
    """Begin the work again and again, also while the last one has not ended."""
    async with asyncio.TaskGroup() as running:
        while True:
            running.create_task(cast("Any", work()))
            await asyncio.sleep(every_s)


def shown() -> list[Document]:
    """Return the group's document and the list, as pages would read them."""
    state = live_state()
    both = state.group("apache", GROUP.name), state.overview("apache")
    return [cast("Document", each) for each in both if each is not None]


async def right() -> bool:
    documents = shown()
    return (
        len(documents) == 2
        and len(documents[0]["queues"]) == 2 * 8
        and documents[0]["totals"]["members"] == len(GROUP.parts)
        and is_whole(documents[0])
        and not says_silence(documents[1], SILENT)
    )


async def told() -> bool:
    group, overview = shown()
    return is_marked(group) and says_silence(overview, SILENT)


async def test_nothing_false_is_shown_unmarked_while_a_broker_is_silent(
    apache: ApacheCluster, members: SevenGroups, truth: Truth
) -> None:
    looks: dict[tuple[bool, int], Document] = {}

    async def look_for(seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            await asyncio.sleep(0.5)
            for document in shown():
                looks["group" in document, document["seq"]] = document

    await until_seen(right, bool, seconds=AT_REST_S)
    await look_for(2 * TOLERANCE_S)
    silence = Silence(SILENT, now_ms())
    truth.silences.append(silence)
    apache.processes[SILENT].signal(signal.SIGSTOP)
    await look_for(SILENT_S)
    await until_seen(told, bool)
    silence.to_ms = now_ms()
    apache.processes[SILENT].signal(signal.SIGCONT)
    await until_seen(right, bool)
    await look_for(2 * TOLERANCE_S)

    truth.connections = tuple(members.connections)
    truth.holds = members.holds()
    judge = Judge(truth, tuple(apache.brokers), round(TOLERANCE_S * 1000))
    faults: list[Fault] = []
    for (is_group, _), document in looks.items():
        faults += judge.group(document) if is_group else judge.overview(document)
    assert list(map(str, faults)) == []
