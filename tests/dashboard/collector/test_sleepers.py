"""What a lead publishes, keeps and leaves is the same as if it looked at each group."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Collection
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest
import redis.asyncio

from dashboard.collector import cluster_collector, lead
from dashboard.collector.asking import choose_asked
from dashboard.collector.samples import SampleColumns, Sampler
from dashboard.collector.sleepers import MOST_LOOKS, Asleep, Looks, Sleepers
from dashboard.live.names import memory_key, overview_key
from dashboard.live.state import live_state, make_async_client
from dashboard.models import Cluster
from rmqcore.model.columns import Column
from rmqcore.model.snapshot import (
    ClusterSnapshot,
    GroupSnapshot,
    TopicKind,
    TopicSnapshot,
)
from rmqcore.model.topic import dead_letter_topic
from tests.support.collectors import BrokersOfASource, make_collector
from tests.support.valkey import Valkey
from tests.support.waiting import PATIENCE_SECONDS

from .sights import NOW, broker, keys
from .sights import cluster as cluster_of
from .test_rest import BEHIND, MEMBERS, World

pytestmark = pytest.mark.django_db(transaction=True)

GROUPS = 8
EVENTS = (
    *("moves", "creeps", "lags", "lags a little", "consumes", "retries"),
    *("joins", "leaves", "all leave", "dead letters", "letters unknown"),
    *("goes", "comes", "away", "back", "watched", "wished for", "looked at"),
)
APART_MS = (10_000,) * 8 + (1_000, 9_000, 45_000, 200_000)


class Script(BrokersOfASource):
    """A cluster in which things happen as chance has it, always in the same way."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.chance = Random(seed)
        self.at_ms = NOW
        self.worlds = {f"g{number}": World(high=90_000) for number in range(GROUPS)}
        self.gone: set[str] = set()
        self.away = False
        self.wished: dict[str, Any] = {}
        self._named: dict[str, tuple[GroupSnapshot, GroupSnapshot]] = {}

    def now_ms(self) -> int:
        return self.at_ms

    def step(self) -> tuple[str, str]:
        """Let time pass and something happen, mostly nothing; return what, and to."""
        self.at_ms += self.chance.choice(APART_MS)
        name = self.chance.choice(list(self.worlds))
        event = "nothing"
        if self.chance.random() < 0.3:
            event = self.chance.choice(EVENTS)
        for each in self.worlds.values():
            each.happen("nothing")
        if event == "goes":
            self.gone.add(name)
        elif event == "comes":
            self.gone.clear()
        elif event in ("away", "back"):
            self.away = event == "away"
        elif event in {*MEMBERS, *BEHIND, "moves", "retries"} or "letters" in event:
            self.worlds[name].happen(event)
        return event, name

    async def snapshot(self) -> ClusterSnapshot:
        return self._taken({n: self._group(n) for n in self.worlds})

    async def groups(self, names: Collection[str]) -> ClusterSnapshot:
        found: dict[str, GroupSnapshot] = {}
        for name in sorted(self.worlds.keys() & names):
            world = self.worlds[name]
            world.asked = True
            found[name] = replace(world.made(), name=name)
            world.asked = False
        return self._taken(found)

    def _group(self, name: str) -> GroupSnapshot:
        group = self.worlds[name].group
        known = self._named.get(name)
        if known is None or known[0] is not group:
            known = self._named[name] = group, replace(group, name=name)
        return known[1]

    def _taken(self, groups: dict[str, GroupSnapshot]) -> ClusterSnapshot:
        there = [each for name, each in groups.items() if name not in self.gone]
        seen = cluster_of(*there, brokers=[broker(answered=not self.away)])
        topics = dict(seen.topics)
        for name, world in self.worlds.items():
            if world.dead:
                topic = dead_letter_topic(name)
                topics[topic] = TopicSnapshot(
                    topic,
                    TopicKind.DEAD_LETTER,
                    keys(1, topic),
                    Column.of([0]),
                    Column.of([world.dead]),
                    seen.topics["orders"].brokers,
                )
        return ClusterSnapshot(self.at_ms, seen.brokers, topics, seen.groups)


@pytest.fixture
async def client(valkey: Valkey) -> AsyncIterator[redis.asyncio.Redis]:
    client = make_async_client(valkey.url)
    yield client
    await client.aclose()


@pytest.fixture(autouse=True)
def few_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweep few groups as if they were thousands."""
    monkeypatch.setattr(lead, "DOCUMENTS_FOR_ALL", 0)
    monkeypatch.setattr(cluster_collector, "choose_asked", asked_in_turn)


def asked_in_turn(candidates: Any) -> frozenset[str]:
    """One group is asked after each sweep, as few of thousands are."""
    return choose_asked(candidates, 1)


async def stored(client: redis.asyncio.Redis) -> dict[str, Any]:
    """All that is in the cache but for the lease, decoded where it is packed."""
    found: dict[str, Any] = {}
    for key in sorted(await client.keys("*")):
        name = key.decode()
        if await client.type(key) != b"string" or "lease" in name:
            continue
        text = await client.get(key)
        packed = text[:1] == b"\x78"
        found[name] = zlib.decompress(text) if packed else text
        if found[name][:1] == b"{":
            # What follows a line are columns; it says where each is.
            document, *columns = found[name].split(b"\n", 1)
            read = orjson.loads(document)
            found[name] = [read, *columns] if columns else read
    return found


async def told(
    seed: int, client: redis.asyncio.Redis, row: Cluster, folder: Path
) -> tuple[list[Any], int]:
    """Return all that each sweep published, kept and left, and how many slept."""
    await client.flushall()
    source = Script(seed)
    collector = make_collector(
        row,
        source,
        client,
        folder,
        clock=source.now_ms,
        wanted_strategies=lambda: source.wished,
    )
    kept: list[Any] = []
    keep = collector.keeper.keep

    async def noting(samples: SampleColumns | None, now_ms: int) -> None:
        keeper = collector.keeper
        waiting = (keeper._turns, keeper._handovers, keeper._ends)
        columns = None if samples is None else samples.columns
        kept.append((columns, *map(repr, waiting)))
        await keep(samples, now_ms)

    collector.keeper.keep = noting  # type: ignore[method-assign]
    seen: list[Any] = []
    slept = 0
    for _ in range(70):
        event, name = source.step()
        if event == "watched":
            live_state().watch("east", name, source.at_ms / 1000)
        await collector.sweep_all()
        if event == "looked at":
            source.at_ms += 400
            collector.notice(name)
            await collector._look_at(frozenset({name}))
        await collector.at_rest()
        assert collector._lead is not None
        slept += len(list(collector._lead._sleepers))
        seen.append((event, name, await stored(client), kept.copy()))
        kept.clear()
    assert collector.figures.failed == collector.figures.faults == 0
    await collector.close()
    return seen, slept


@pytest.mark.parametrize("seed", range(4))
async def test_sleep_changes_nothing_that_anyone_sees(
    seed: int,
    client: redis.asyncio.Redis,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = await Cluster.objects.acreate(name="east")
    quick, slept = await told(seed, client, row, tmp_path / "quick")
    await Cluster.objects.aupdate(name="past")
    row = await Cluster.objects.acreate(name="east")
    monkeypatch.setattr(Sleepers, "add", lambda *_: None)
    thorough, none = await told(seed, client, row, tmp_path / "thorough")
    assert slept > 30
    assert none == 0
    for one, other in zip(quick, thorough, strict=True):
        assert one == other
    assert memory_key("east") in quick[-1][2]


async def test_a_sleeping_group_at_fault_is_looked_at_by_itself(
    client: redis.asyncio.Redis,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    row = await Cluster.objects.acreate(name="east")
    source = Script(0)
    collector = make_collector(row, source, client, tmp_path, clock=source.now_ms)

    async def sweep() -> list[str]:
        source.at_ms += 10_000
        for each in source.worlds.values():
            each.happen("nothing")
        await collector.sweep_all()
        await collector.at_rest()
        assert collector._lead is not None
        return sorted(collector._lead._sleepers)

    async with asyncio.timeout(PATIENCE_SECONDS):
        while "g3" not in await sweep():
            pass
    still_row = lead.still_row

    def broken(last: Any, *about: Any) -> Any:
        if last["group"] == "g3":
            raise RuntimeError("broken")
        return still_row(last, *about)

    monkeypatch.setattr(lead, "still_row", broken)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while "g3" in await sweep():
            pass
    assert "group=g3 could not be looked at asleep" in caplog.text
    assert collector.figures.failed == collector.figures.faults == 0
    shown = await stored(client)
    rows = {each["group"]: each for each in shown[overview_key("east")]["groups"]}
    assert sorted(rows) == sorted(source.worlds)
    await collector.close()


class Sleeping:
    """The memory of a group that may be at fault."""

    def __init__(self, error: Exception | None = None) -> None:
        self.sampler = Sampler()
        self.is_awake = False
        self._error = error

    def sleep(self, looks: Looks) -> None:
        """Sleep."""

    def wake(self) -> None:
        """Wake, or fail to."""
        if self._error is not None:
            raise self._error
        self.is_awake = True


def test_a_group_that_cannot_catch_up_does_not_keep_the_others_from_it() -> None:
    broken, well = Sleeping(RuntimeError("broken")), Sleeping()
    sleepers, group = Sleepers(), World(high=90_000).made()
    for name, watch in (("broken", broken), ("well", well)):
        sleepers.add(name, Asleep(watch, group, 0), frozenset())
    sleepers.wake(["broken", "well"])
    assert well.is_awake
    assert list(sleepers) == []


def test_looks_beyond_the_limit_are_left_out_from_the_oldest_on() -> None:
    looks = Looks()
    assert looks.since(0) == []
    for at_ms in range(MOST_LOOKS + 2):
        looks.add(at_ms)
    assert looks.since(looks.count) == []
    assert looks.since(MOST_LOOKS) == [MOST_LOOKS, MOST_LOOKS + 1]
    assert looks.since(0) == list(range(2, MOST_LOOKS + 2))
