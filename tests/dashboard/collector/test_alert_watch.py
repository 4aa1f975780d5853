"""The collector judges the rules of alerts with its looks, and hands their state on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from datetime import datetime
from pathlib import Path

import pytest
import redis.asyncio
from django.db import OperationalError

from dashboard.alerting.engine import Engine, News, Opening
from dashboard.alerting.records import write_news
from dashboard.collector import alert_watch
from dashboard.collector.cluster_collector import ClusterCollector
from dashboard.live.alert_documents import AlertingDocument
from dashboard.live.state import live_state, make_async_client
from dashboard.models import Alert, AlertMessage, AlertRule, Channel, Cluster
from rmqcore.model.snapshot import ClusterSnapshot, GroupSnapshot
from tests.support.collectors import BrokersOfASource, make_collector
from tests.support.valkey import Valkey

from .sights import broker, group, keys, member, table
from .sights import cluster as cluster_of

pytestmark = pytest.mark.django_db(transaction=True)

QUEUES = keys(2)
START_MS = 1_790_000_000_000


class Clock:
    def __init__(self) -> None:
        self.now_ms = START_MS

    def __call__(self) -> int:
        return self.now_ms


class Seen(BrokersOfASource):
    """A source with one group, whose lag the test chooses."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.lag: int | None = 0
        self.silent = False

    async def snapshot(self) -> ClusterSnapshot:
        found = [] if self.lag is None else [self._group(self.lag)]
        seen = cluster_of(*found, brokers=[broker("a", answered=not self.silent)])
        return ClusterSnapshot(self.clock(), seen.brokers, seen.topics, seen.groups)

    async def groups(self, names: Collection[str]) -> ClusterSnapshot:
        return await self.snapshot()

    def _group(self, lag: int) -> GroupSnapshot:
        queues = table(QUEUES, high=[100 + lag, 100])
        return group(queues, [member("c1", QUEUES)], expected=["c1", "c1"], name="g")


class Running:
    """Collectors of one cluster, one after another, on one clock."""

    def __init__(self, row: Cluster, client: redis.asyncio.Redis, folder: Path) -> None:
        self.clock = Clock()
        self.source = Seen(self.clock)
        self.wakes = 0
        self._row, self._client, self._folder = row, client, folder
        self._collectors: list[ClusterCollector] = []
        self.restart()

    def restart(self) -> None:
        number = len(self._collectors)
        self._collectors.append(
            make_collector(
                self._row,
                self.source,
                self._client,
                self._folder / str(number),
                holder=f"h{number}",
                run=f"run{number}",
                clock=self.clock,
                wake_sender=self._wake,
            )
        )

    @property
    def collector(self) -> ClusterCollector:
        return self._collectors[-1]

    async def sweep(self, *, after_s: int = 10, lag: int | None = 0) -> None:
        self.clock.now_ms += after_s * 1000
        self.source.lag = lag
        await self.collector.sweep_all()

    async def close(self) -> None:
        for collector in self._collectors:
            await collector.close()

    def _wake(self) -> None:
        self.wakes += 1


@pytest.fixture
async def running(valkey: Valkey, tmp_path: Path) -> AsyncIterator[Running]:
    row = await Cluster.objects.acreate(name="east")
    client = make_async_client(valkey.url)
    made = Running(row, client, tmp_path)
    yield made
    await made.close()
    await client.aclose()


async def add_rule(**fields: object) -> AlertRule:
    given = {"name": "Lag", "kind": "lag", "limit": 50, **fields}
    rule = await AlertRule.objects.acreate(**given)
    channel = await Channel.objects.acreate(name="c", address="json://127.0.0.1:9/")
    await rule.channels.aset([channel])
    return rule


async def alerts() -> list[tuple[str, bool]]:
    """Return the rules of the alerts so far, and whether each is open."""
    return [
        (row.rule_name, row.closed_at is None)
        async for row in Alert.objects.order_by("pk")
    ]


def document() -> AlertingDocument:
    found = live_state().alerting("east")
    assert found is not None
    return found


async def test_a_rule_fires_and_ends_with_the_sweeps(running: Running) -> None:
    rule = await add_rule()
    await running.sweep()
    assert (await alerts(), running.wakes) == ([], 0)
    await running.sweep(lag=60)
    assert await alerts() == [("Lag", True)]
    assert running.wakes > 0
    assert await AlertMessage.objects.acount() == 1
    state = document()["rules"][str(rule.pk)]
    assert (state["subjects"], state["firing"]) == (1, 1)
    await running.sweep(lag=0)
    assert await alerts() == [("Lag", False)]


async def test_without_rules_nothing_is_stored(running: Running) -> None:
    await running.sweep()
    assert live_state().alerting("east") is not None  # what an earlier one left goes
    await running.sweep()
    assert document()["taken_at"] == running.clock() - 10_000
    assert document()["rules"] == {}


async def test_a_rule_that_comes_while_it_runs_is_judged(running: Running) -> None:
    await running.sweep()
    await add_rule()
    await running.sweep(lag=60)
    assert await alerts() == [("Lag", True)]
    await AlertRule.objects.all().adelete()
    await running.sweep(lag=60)
    assert await alerts() == [("Lag", False)]


async def test_the_next_collector_goes_on(running: Running) -> None:
    await add_rule(hold_s=20)
    await running.sweep(lag=60)
    await running.sweep(lag=60)
    await running.collector.close()
    running.restart()
    await running.sweep(lag=60)
    assert await alerts() == [("Lag", True)]
    await running.collector.close()
    running.restart()
    await running.sweep(lag=60)
    await running.sweep(lag=0)
    assert await alerts() == [("Lag", False)]


async def test_few_groups_with_a_rule_are_looked_at_each_second(
    running: Running,
) -> None:
    await add_rule()
    await running.sweep()
    running.clock.now_ms += 1000
    running.source.lag = 60
    await running.collector.sweep_watched()
    assert await alerts() == [("Lag", True)]


async def test_a_group_that_goes_ends_its_alert_and_a_silent_broker_does_not(
    running: Running,
) -> None:
    await add_rule()
    await running.sweep(lag=60)
    running.source.silent = True
    await running.sweep(lag=60)
    assert await alerts() == [("Lag", True)]
    running.source.silent = False
    await running.sweep(lag=None)
    assert await alerts() == [("Lag", False)]


async def test_a_broker_that_does_not_answer(running: Running) -> None:
    await add_rule(kind="broker", limit=15_000)
    await running.sweep()
    running.source.silent = True
    await running.sweep()
    await running.sweep()
    assert await alerts() == []
    await running.sweep()
    assert await alerts() == [("Lag", True)]
    running.source.silent = False
    await running.sweep()
    assert await alerts() == [("Lag", False)]


async def test_what_the_database_refuses_is_written_with_a_later_sweep(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> None:
        raise OperationalError("the disk is full")

    await add_rule()
    await running.sweep()
    with monkeypatch.context() as full:
        full.setattr(alert_watch, "write_news", refuse)
        await running.sweep(lag=60)
    assert await alerts() == []
    assert "the disk is full" in document()["fault"]
    assert live_state().overview("east") is not None
    await running.sweep(lag=60)
    assert await alerts() == [("Lag", True)]
    assert "fault" not in document()


async def test_what_cannot_be_written_of_one_group_holds_up_no_other(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(cluster: str, news: list[News], now: datetime) -> None:
        if any(each.rule.name == "Bad" for each in news if isinstance(each, Opening)):
            raise ValueError("no database takes this")
        write_news(cluster, news, now)

    await add_rule()
    await AlertRule.objects.acreate(name="Bad", kind="lag", limit=50)
    await running.sweep()
    monkeypatch.setattr(alert_watch, "write_news", write)
    await running.sweep(lag=60)
    assert await alerts() == [("Lag", True)]
    assert "no database takes this" in document()["fault"]
    await running.sweep(lag=0)
    assert await alerts() == [("Lag", False)]


async def test_a_fault_of_ours_is_shown_and_holds_up_nothing(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object) -> None:
        raise ZeroDivisionError("made up")

    await add_rule()
    monkeypatch.setattr(Engine, "look", fail)
    await running.sweep(lag=60)
    assert "made up" in document()["fault"]
    shown = live_state().group("east", "g")
    assert shown is not None
    assert shown.get("fault") is None


@pytest.mark.parametrize("left", [b"", b"nonsense", b"\x78\x9c"])
async def test_a_memory_that_cannot_be_read_is_left_aside(
    running: Running, left: bytes
) -> None:
    await add_rule()
    live_state().client.set("rs:alert-memory:east", left)
    await running.sweep(lag=60)
    assert await alerts() == [("Lag", True)]
