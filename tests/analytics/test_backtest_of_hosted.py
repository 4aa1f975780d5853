"""A hosted group from its wishes to the back-test: the strategy in use is what was.

The members hold what each computes for itself by the wish; the collector sees them,
the lake gets samples and epochs, and a report is asked for as from the page. What the
back-test gives the members in use is then compared with what they held.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyarrow import parquet

from analytics import contracts as c
from analytics.jobs import run_job
from dashboard.collector.records import load_wanted_strategies
from dashboard.fleet.strategies import hosted_strategy
from dashboard.live.state import make_async_client
from dashboard.models import Cluster, JobRun, ManagedGroup
from dashboard.reports.data.output import output_of
from dashboard.reports.request.comparisons import with_known_options
from dashboard.reports.runner import request_of
from rmqcore.model import MessageQueue
from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import ClusterSnapshot
from tests.analytics.rows import SECOND, START_MS
from tests.dashboard.collector.sights import broker, group, keys, member, table
from tests.support.collectors import BrokersOfASource, make_collector
from tests.support.valkey import Valkey, valkey, valkey_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["valkey", "valkey_server"]

pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(1800),
    pytest.mark.django_db(transaction=True),
]

GROUP = "settlement"
IDS = tuple(f"10.0.0.{n}@{GROUP}-{n}.4" for n in (1, 2, 3))
HERE, THERE = keys(4, broker="hz1@a"), keys(4, broker="hz2@b")
QUEUES = (*HERE, *THERE)
RATES = {key: 1 + 3 * at for at, key in enumerate(QUEUES)}
STEP = 10

Wished = tuple[str, dict[str, Any]]

WISHES: Mapping[int, Wished] = {
    0: (
        "CONFIG",
        {
            "config": {
                "1": [["orders", "hz1@a", "0-3"]],
                "3": [["orders", "hz2@b", "2"]],
            }
        },
    ),
    # Other lists, and nothing else has changed.
    20: (
        "CONFIG",
        {"config": {"2": [["orders", "hz1@a", "1"], ["orders", "hz2@b", "0-3"]]}},
    ),
    40: ("MACHINE_ROOM", {"rooms": ["hz2"]}),
    60: ("AVG", {}),
    80: ("CONFIG", {"config": {"3": [["orders", "hz1@a", "0-2"]]}}),
}
"""From which second on the group shall divide how; the last runs on."""
UNTIL = 100


def wish_at(second: int) -> Wished:
    return WISHES[max(begun for begun in WISHES if begun <= second)]


def held_by(strategy: str, options: dict[str, Any]) -> dict[str, list[QueueKey]]:
    """Return what each member takes, as each computes it for itself."""
    own = hosted_strategy(strategy, options, GROUP)
    queues = [MessageQueue(*key) for key in QUEUES]
    return {
        client_id: [
            (queue.topic, queue.broker_name, queue.queue_id)
            for queue in own.allocate(GROUP, client_id, queues, IDS)
        ]
        for client_id in IDS
    }


def lag_at(second: int, held: Mapping[str, list[QueueKey]]) -> dict[str, float]:
    """Return the lag of the members that hold something; nothing is consumed."""
    return {
        client_id: sum(RATES[key] * second for key in queues)
        for client_id, queues in held.items()
        if queues
    }


class Played(BrokersOfASource):
    """A cluster at a second of the play; members tell what they hold when asked."""

    second = 0

    def now_ms(self) -> int:
        return START_MS + self.second * SECOND

    async def snapshot(self) -> ClusterSnapshot:
        return self._seen(asked=False)

    async def groups(self, names: Collection[str]) -> ClusterSnapshot:
        return self._seen(asked=True)

    def _seen(self, *, asked: bool) -> ClusterSnapshot:
        strategy, options = wish_at(self.second)
        held = held_by(strategy, options)
        members = [
            member(each, held[each], strategy=strategy) if asked else member(each)
            for each in IDS
        ]
        high = [rate * self.second for rate in RATES.values()]
        queues = table(QUEUES, high=high, committed=[0] * len(QUEUES))
        seen = group(queues, members, name=GROUP)
        brokers = (broker("hz1@a"), broker("hz2@b"))
        return ClusterSnapshot(self.now_ms(), brokers, {}, {GROUP: seen})


async def collect(play: Played, cluster: Cluster, lake: Path, url: str) -> None:
    client = make_async_client(url)
    collector = make_collector(
        cluster,
        play,
        client,
        lake,
        wanted_strategies=lambda: load_wanted_strategies(cluster.pk),
        clock=play.now_ms,
    )
    hosted = ManagedGroup.objects.filter(name=GROUP)
    for play.second in range(0, UNTIL + 1, STEP):
        strategy, options = wish_at(play.second)
        await hosted.aupdate(strategy=strategy, strategy_options=options)
        await collector.sweep_all()
    assert collector.figures.sweeps == UNTIL // STEP + 1
    await collector.close()
    await client.aclose()


def reported(spark: SparkSession, cluster: Cluster) -> dict[str, list[dict[str, Any]]]:
    """Run what a report asks for; return its tables."""
    run = JobRun(cluster=cluster.name, group=GROUP, job=c.JOB_BACKTEST)
    run.since = datetime.fromtimestamp(START_MS / 1000, UTC)
    run.until = datetime.fromtimestamp(START_MS / 1000 + UNTIL, UTC)
    run.asked_at = run.until
    run.options = with_known_options(run)
    # What is wished today is known, and that there were rooms.
    lists = {IDS[2]: [["orders", "hz1@a", number] for number in range(3)]}
    assert run.options == {
        "CONFIG": {"config": lists, "known": True},
        "MACHINE_ROOM": {"known": True},
    }
    run.save()
    run_job(lambda: spark, request_of(run), lambda _part, _phase: None)
    output = Path(output_of(run).removeprefix("file://"))
    return {
        name: parquet.read_table(output / name).to_pylist()
        for name in (c.MEMBER_BY_TIME, c.STRATEGIES)
    }


def test_a_hosted_group_is_back_tested_as_it_was(
    spark: SparkSession, valkey: Valkey, tmp_path: Path, settings: Any
) -> None:
    lake = tmp_path / "lake"
    settings.ROCKETSCOPE_LAKE_URL = str(lake)
    cluster = Cluster.objects.create(name="east")
    ManagedGroup.objects.create(cluster=cluster, name=GROUP)
    asyncio.run(collect(Played(), cluster, lake, valkey.url))
    tables = reported(spark, cluster)
    lag: dict[tuple[str, int], dict[str, float]] = {}
    for row in tables[c.MEMBER_BY_TIME]:
        second = round(row[c.SINCE].timestamp()) - START_MS // SECOND
        lag.setdefault((row[c.STRATEGY], second), {})[row[c.CLIENT_ID]] = row[
            c.LAG_MEAN
        ]
    today = WISHES[80]
    for second in range(0, UNTIL, STEP):
        in_use, options = wish_at(second)
        # What is seen at the end of a step stands for it, also where all changes then.
        seen = second + STEP
        as_it_was = lag_at(seen, held_by(in_use, options))
        assert lag[in_use, second] == as_it_was, f"{in_use} at {second} s"
        if in_use != "CONFIG":
            # Compared with what is wished today.
            assert lag["CONFIG", second] == lag_at(seen, held_by(*today))
        if in_use != "MACHINE_ROOM":
            assert ("MACHINE_ROOM", second) not in lag, "with which rooms?"
    told = {row[c.STRATEGY] for row in tables[c.STRATEGIES] if row[c.IN_USE]}
    assert told == {"CONFIG", "MACHINE_ROOM", "AVG"}
