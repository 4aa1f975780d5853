"""A change of lead, as a reader sees it: everything goes on."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
import redis.asyncio
from channels.layers import get_channel_layer

from dashboard.collector.cluster_collector import ClusterCollector
from dashboard.collector.division import Division
from dashboard.collector.inheritance import UNBROKEN_MS
from dashboard.collector.lead import DOCUMENTS_FOR_ALL
from dashboard.collector.presence import HELD_MS
from dashboard.live.documents import GroupState, Overview, OverviewRow
from dashboard.live.names import (
    group_key,
    lease_key,
    live_group_name,
    live_overview_name,
    memory_key,
)
from dashboard.live.state import live_state, make_async_client
from dashboard.models import Cluster, OwnershipEvent
from rmqcore.errors import ConnectError
from rmqcore.model.columns import QueueKey, Reason
from rmqcore.model.snapshot import ClusterSnapshot, GroupSnapshot
from tests.support.collectors import BrokersOfASource, make_collector
from tests.support.valkey import Valkey
from tests.support.waiting import PATIENCE_SECONDS, until_seen

from .sights import NOW, broker, group, keys, member, table
from .sights import cluster as cluster_of

pytestmark = pytest.mark.django_db(transaction=True)

QUEUES = keys(4)
Numbers = Sequence[int | Reason]
SENT, CONSUMED = 100, 40
"""Messages a second, into each queue and out of it."""


class Growing(BrokersOfASource):
    """A cluster at a time that the test sets; one group falls behind, one idles."""

    def __init__(self) -> None:
        super().__init__()
        self.at_ms = NOW
        self.others = 0
        self.holds: dict[str, tuple[QueueKey, ...]] = {
            **{f"h{n}@m": QUEUES[n : n + 1] for n in range(4)},
            "h5@e": (),
        }
        self.silent = False
        self.gate: Callable[[], Any] | None = None

    def now_ms(self) -> int:
        return self.at_ms

    async def snapshot(self) -> ClusterSnapshot:
        taken = self._taken(asked=False)
        if self.gate is not None:
            await self.gate()
        return taken

    async def groups(self, names: Collection[str]) -> ClusterSnapshot:
        return self._taken(asked=True)

    def _taken(self, *, asked: bool) -> ClusterSnapshot:
        groups = [self._group("g", asked=asked)]
        groups += [self._group(f"idle-{n}", asked=False) for n in range(self.others)]
        brokers = [broker(answered=not self.silent)]
        seen = cluster_of(*groups, brokers=brokers)
        return ClusterSnapshot(self.at_ms, seen.brokers, seen.topics, seen.groups)

    def _group(self, name: str, *, asked: bool) -> GroupSnapshot:
        seconds = (self.at_ms - NOW) // 1000
        high: Numbers = [5_000 + seconds * SENT] * len(QUEUES)
        done: Numbers = [3_000 + seconds * CONSUMED] * len(QUEUES)
        if self.silent:
            high = done = [Reason.NO_ANSWER] * len(QUEUES)
        members = [
            member(client, held, topics=["orders"], strategy="AVG")
            if asked
            else member(client)
            for client, held in self.holds.items()
        ]
        expected = [
            client
            for key in QUEUES
            for client, held in self.holds.items()
            if key in held
        ]
        queues = table(QUEUES, high=high, committed=done)
        return group(queues, members, expected=expected, name=name)


class Page:
    """A page as `js/frame/live.js` has it: applies what follows, else loads anew."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self.loads = 0
        self._load = load
        self.document: Any = None
        self.load()

    def load(self) -> None:
        self.loads += 1
        self.document = self._load()

    def take(self, update: dict[str, Any]) -> None:
        run, seq = self.document["run"], self.document["seq"]
        if update["run"] == run and update["seq"] <= seq:
            return
        if (update["run"], update["seq"]) != (run, seq + 1):
            self.load()
            return
        changes = dict(update["changes"])
        rows = {_key(row): row for row in self.document["queues"]}
        rows.update(changes.pop("queues", {}))
        queues = [row for row in rows.values() if row is not None]
        self.document = {**self.document, **changes, "queues": queues}
        self.document["seq"] = update["seq"]


def _key(row: dict[str, Any]) -> str:
    return f"{row['topic']}|{row['broker']}|{row['queue_id']}"


class Heard:
    """What is published under a name of the channel layer."""

    def __init__(self, name: str) -> None:
        self._name, self._layer, self._channel = name, get_channel_layer(), ""

    async def __aenter__(self) -> Heard:
        self._channel = await self._layer.new_channel()
        await self._layer.group_add(self._name, self._channel)
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self._layer.group_discard(self._name, self._channel)
        await self._layer.flush()

    async def next(self) -> dict[str, Any]:
        receiving = self._layer.receive(self._channel)
        message = await asyncio.wait_for(receiving, PATIENCE_SECONDS)
        update: dict[str, Any] = orjson.loads(message["text"])
        return update


Make = Callable[..., ClusterCollector]


@pytest.fixture
async def client(valkey: Valkey) -> AsyncIterator[redis.asyncio.Redis]:
    client = make_async_client(valkey.url)
    yield client
    await client.aclose()


@pytest.fixture
async def east() -> Cluster:
    made: Cluster = await Cluster.objects.acreate(name="east")
    return made


@pytest.fixture
async def make(
    east: Cluster, client: redis.asyncio.Redis, tmp_path: Path
) -> AsyncIterator[Make]:
    made: list[ClusterCollector] = []

    def make(
        source: Growing, holder: str, division: Division | None = None
    ) -> ClusterCollector:
        folder, seed = tmp_path / holder, len(made)
        collector = make_collector(
            *(east, source, client, folder),
            holder=holder,
            run=holder,
            clock=source.now_ms,
            seed=seed,
            division=division,
        )
        made.append(collector)
        return collector

    yield make
    for collector in made:
        await collector.close()


async def sweep(collector: ClusterCollector, source: Growing, seconds: int) -> None:
    """Sweep everything every ten seconds for a time, beginning in ten seconds."""
    for _ in range(seconds // 10):
        source.at_ms += 10_000
        await collector.sweep_all()


def shown(name: str = "g") -> GroupState:
    document = live_state().group("east", name)
    assert document is not None
    return document


def overview() -> Overview:
    document = live_state().overview("east")
    assert document is not None
    return document


def rows_by_group() -> dict[str, OverviewRow]:
    return {row["group"]: row for row in overview()["groups"]}


def since(key: str) -> int | None:
    return {f["key"]: f["since"] for f in shown()["findings"]}.get(key)


async def frozen_past_its_lease(client: redis.asyncio.Redis) -> None:
    await client.delete(lease_key("east"))


async def test_a_page_goes_on_over_a_change_of_lead(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    one, two = make(source, "one"), make(source, "two")
    await one.sweep_all()
    live_state().watch("east", "g", source.at_ms / 1000)
    page = Page(shown)
    async with Heard(live_group_name("east", "g")) as heard:
        for collector in (one, two, two):
            source.at_ms += 1_000
            await collector.sweep_watched()
            page.take(await heard.next())
            if collector is one:
                await frozen_past_its_lease(client)
        assert page.loads == 1
        assert page.document["queues"] == shown()["queues"]
        assert page.document["totals"] == shown()["totals"]
    assert two.figures.leading == 1


async def test_the_list_goes_on_over_a_change_of_lead(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    one, two = make(source, "one"), make(source, "two")
    await sweep(one, source, 20)
    before = overview()
    await frozen_past_its_lease(client)
    async with Heard(live_overview_name("east")) as heard:
        await sweep(two, source, 10)
        digest = await heard.next()
    assert (digest["run"], digest["seq"]) == (before["run"], before["seq"] + 1)


async def test_what_two_leaders_saw_makes_one_rate(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    one, two = make(source, "one"), make(source, "two")
    await sweep(one, source, 30)
    await frozen_past_its_lease(client)
    source.at_ms += 15_000
    await two.sweep_all()
    assert shown()["queues"][0]["rate_in"] == SENT
    assert shown()["queues"][0]["rate_out"] == CONSUMED
    assert overview()["groups"][0]["rate_in"] == SENT * len(QUEUES)


async def test_findings_hold_since_the_leader_before_saw_them(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    one, two = make(source, "one"), make(source, "two")
    await sweep(one, source, 180)
    falling, idle = since("losing_ground"), since("idle_members")
    assert falling is not None
    assert idle is not None
    before = overview()["groups"][0]
    await frozen_past_its_lease(client)
    source.at_ms += 15_000
    await two.sweep_all()
    assert since("losing_ground") == falling
    assert since("idle_members") == idle
    assert overview()["groups"][0]["status"] == before["status"]
    assert overview()["groups"][0]["findings"] == before["findings"]


async def test_a_finding_that_was_said_after_the_last_sweep_keeps_its_since(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    one, two = make(source, "one"), make(source, "two")
    await sweep(one, source, 60)
    live_state().watch("east", "g", source.at_ms / 1000)
    assert since("losing_ground") is None
    for _ in range(12):
        source.at_ms += 1_000
        await one.sweep_watched()
    falling = since("losing_ground")
    assert falling is not None
    await frozen_past_its_lease(client)
    source.at_ms += 15_000
    await two.sweep_all()
    assert since("losing_ground") == falling


async def test_after_a_long_gap_nothing_is_said_to_have_lasted(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    one, two = make(source, "one"), make(source, "two")
    await sweep(one, source, 180)
    change = shown()["last_change"]
    await frozen_past_its_lease(client)
    source.at_ms += UNBROKEN_MS + 1_000
    await two.sweep_all()
    assert since("losing_ground") is None
    assert shown()["queues"][0]["rate_in"] is None
    assert shown()["last_change"] == change


async def test_a_queue_that_moved_meanwhile_is_an_event(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    one, two = make(source, "one"), make(source, "two")
    await sweep(one, source, 20)
    seen_ms = source.at_ms
    await frozen_past_its_lease(client)
    source.holds |= {"h1@m": (), "h5@e": QUEUES[1:2]}
    source.at_ms += 15_000
    await two.sweep_all()
    await two.sweep_all()
    event = await OwnershipEvent.objects.aget(group="g")
    owners = (event.owners_before, event.owners_after)
    assert (event.kind, owners) == ("moved", (["h1@m"], ["h5@e"]))
    assert event.at_after is not None
    assert round(event.at_after.timestamp() * 1000) == seen_ms


async def test_events_after_the_last_sweep_are_not_told_again(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    one, two = make(source, "one"), make(source, "two")
    await sweep(one, source, 20)
    source.holds |= {"h1@m": (), "h5@e": QUEUES[1:2]}
    live_state().watch("east", "g", source.at_ms / 1000)
    for _ in range(2):
        source.at_ms += 1_000
        await one.sweep_watched()
        await one.at_rest()
    await frozen_past_its_lease(client)
    source.holds |= {"h5@e": (), "h2@m": QUEUES[1:3]}
    source.at_ms += 15_000
    await two.sweep_all()
    await two.sweep_all()
    events = OwnershipEvent.objects.filter(group="g").order_by("pk")
    assert [(each.owners_before, each.owners_after) async for each in events] == [
        (["h1@m"], ["h5@e"]),
        (["h5@e"], ["h2@m"]),
    ]


async def test_groups_without_a_document_are_handed_on_too(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    source.others = DOCUMENTS_FOR_ALL + 1
    last = f"idle-{DOCUMENTS_FOR_ALL}"
    one, two = make(source, "one"), make(source, "two")
    await sweep(one, source, 20)
    assert live_state().group("east", last) is None
    await frozen_past_its_lease(client)
    source.at_ms += 15_000
    await two.sweep_all()
    rows = rows_by_group()
    assert rows[last]["rate_in"] == SENT * len(QUEUES)


async def test_a_group_that_is_scraped_has_a_document(make: Make) -> None:
    source = Growing()
    source.others = DOCUMENTS_FOR_ALL + 1
    last = f"idle-{DOCUMENTS_FOR_ALL}"
    one = make(source, "one")
    live_state().want_documents("east", [last], source.at_ms / 1000)
    await sweep(one, source, 10)
    found = live_state().group("east", last)
    assert found is not None
    assert found["taken_at"] == source.at_ms
    assert live_state().group("east", f"idle-{DOCUMENTS_FOR_ALL - 1}") is None


async def test_what_was_held_for_a_silent_broker_is_still_held(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    source.others = DOCUMENTS_FOR_ALL + 1
    last = f"idle-{DOCUMENTS_FOR_ALL}"
    one, two = make(source, "one"), make(source, "two")
    await sweep(one, source, 20)
    whole_ms, before = source.at_ms, rows_by_group()
    await frozen_past_its_lease(client)
    source.silent = True
    await sweep(two, source, 20)
    for name in ("g", last):
        assert rows_by_group()[name]["status"] == before[name]["status"]
        assert rows_by_group()[name].get("as_of") == whole_ms
    assert shown().get("held") == {"as_of": whole_ms, "until": whole_ms + HELD_MS}
    live_state().watch("east", last, source.at_ms / 1000)
    source.at_ms += 1_000
    await two.sweep_watched()
    known = shown(last)["queues"][0].get("last")
    assert known is not None
    assert known["at"] == whole_ms
    assert known["max"] == 5_000 + SENT * (whole_ms - NOW) // 1000


async def test_the_old_leader_that_wakes_takes_what_the_new_one_left(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    one, two = make(source, "one"), make(source, "two")
    await sweep(one, source, 20)
    await frozen_past_its_lease(client)
    await sweep(two, source, 20)
    before = shown()
    await sweep(one, source, 10)
    assert one.figures.leading == 1
    assert shown() == before, "it believed to lead, and its write was refused"
    assert one.figures.refused > 0
    await one.sweep_all()
    assert one.figures.leading == 0
    await two.close()
    await sweep(one, source, 10)
    assert one.figures.leads == 2
    assert (shown()["run"], shown()["seq"]) == (before["run"], before["seq"] + 2)


async def test_a_lease_that_ran_out_costs_a_sweep_and_not_the_lead(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    one = make(source, "one")
    await sweep(one, source, 20)
    before = shown()

    async def expire() -> None:
        await frozen_past_its_lease(client)

    source.gate = expire
    await sweep(one, source, 10)
    assert shown() == before
    assert one.figures.refused == 1
    source.gate = None
    await sweep(one, source, 10)
    assert one.figures.leads == 1
    assert one.figures.lapses == 1
    assert shown()["run"] == before["run"]
    assert shown()["queues"][0]["rate_in"] == SENT


async def test_a_cache_that_forgot_everything_does_not_end_the_lead(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    one = make(source, "one")
    await sweep(one, source, 180)
    before, falling = shown(), since("losing_ground")
    await client.flushall()
    await sweep(one, source, 20)
    assert one.figures.leads == 1
    assert shown()["run"] == before["run"]
    assert shown()["seq"] > before["seq"]
    assert since("losing_ground") == falling is not None


async def test_nobody_hears_of_a_cluster_that_cannot_be_reached_that_it_is_empty(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    one = make(source, "one")
    await sweep(one, source, 20)

    async def away() -> None:
        raise ConnectError("10.0.0.1:9876: connection refused")

    await client.flushall()
    source.gate = away
    await sweep(one, source, 20)
    assert overview().get("error") == "10.0.0.1:9876: connection refused"
    assert [row["group"] for row in overview()["groups"]] == ["g"]


@pytest.mark.parametrize("left", [b"", b"nothing that was packed"])
async def test_memory_that_cannot_be_read_is_done_without(
    make: Make, client: redis.asyncio.Redis, left: bytes
) -> None:
    source = Growing()
    one, two = make(source, "one"), make(source, "two")
    await sweep(one, source, 20)
    run = shown()["run"]
    await client.set(memory_key("east"), left)
    await frozen_past_its_lease(client)
    await sweep(two, source, 10)
    assert shown()["run"] != run
    assert two.figures.failed == 0


async def test_a_group_that_was_gone_is_loaded_anew_by_who_still_shows_it(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    source.others = 1
    one, two = make(source, "one"), make(source, "two")
    await sweep(one, source, 50)
    page = Page(lambda: shown("idle-0"))
    for leader in (one, two):
        source.others = 0
        await sweep(one, source, 10)
        assert live_state().group("east", "idle-0") is None
        if leader is two:
            await frozen_past_its_lease(client)
        source.others = 1
        await sweep(leader, source, 10)
        assert shown("idle-0")["run"] == page.document["run"]
        assert shown("idle-0")["seq"] > page.document["seq"] + 1
        page.load()


async def test_one_groups_memory_that_makes_no_sense_costs_that_group_alone(
    make: Make, client: redis.asyncio.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    source = Growing()
    source.others = 1
    one, two = make(source, "one"), make(source, "two")
    await sweep(one, source, 20)
    packed = await client.get(memory_key("east"))
    memory = orjson.loads(zlib.decompress(packed))
    memory["groups"]["idle-0"]["owners"] = {"seen": [[1, [99]]]}
    memory["groups"]["idle-0"]["hues"] = 7
    await client.set(memory_key("east"), zlib.compress(orjson.dumps(memory)))
    await frozen_past_its_lease(client)
    await sweep(two, source, 10)
    assert two.figures.failed == 0
    assert "group=idle-0 is begun anew" in caplog.text
    rows = rows_by_group()
    assert rows["g"]["rate_in"] == SENT * len(QUEUES)
    assert rows["idle-0"]["rate_in"] is None
    assert await client.exists(group_key("east", "idle-0"))


class Slow(Growing):
    """A cluster whose members answer only when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.answers = asyncio.Event(), asyncio.Event()
        self.answers.set()

    async def groups(self, names: Collection[str]) -> ClusterSnapshot:
        taken = await super().groups(names)
        self.asked.set()
        await self.answers.wait()
        return taken


async def sharing(
    make: Make, client: redis.asyncio.Redis, source: Growing
) -> tuple[ClusterCollector, ClusterCollector]:
    """Return the leader of two clusters, and a collector that leads none yet."""
    await client.set(lease_key("alpha"), "one|1")
    one, two = (
        make(source, name, Division(client, name, lambda: ("alpha", "east")))
        for name in ("one", "two")
    )
    await sweep(one, source, 30)
    assert one.figures.leading == 1
    await two.sweep_all()
    assert two.figures.leading == 0
    return one, two


async def test_a_lead_that_is_given_up_goes_on_elsewhere_with_nothing_lost(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Growing()
    one, two = await sharing(make, client, source)
    live_state().watch("east", "g", source.at_ms / 1000)
    source.at_ms += 1_000
    await one.sweep_watched()
    source.holds["h0@m"], source.holds["h5@e"] = (), QUEUES[:1]
    await sweep(one, source, 10)
    assert one.figures.leading == 0
    before, listed = shown(), overview()
    await one.sweep_all()
    assert await client.get(lease_key("east")) is None, "it is meant for the other"
    await sweep(two, source, 10)
    after, now = shown(), overview()
    assert (two.figures.leading, two.figures.leads) == (1, 1)
    assert (now["run"], now["seq"]) == (listed["run"], listed["seq"] + 1)
    assert after["run"] == before["run"]
    assert after["seq"] > before["seq"]
    assert after["epoch"] == before["epoch"]
    await sweep(two, source, 20)
    assert await OwnershipEvent.objects.acount() == 1, "confirmed by the second"
    assert one.figures.refused + two.figures.refused == 0
    assert one.figures.failed + two.figures.failed == 0
    assert two.figures.leading == 1, "both have their share"


async def test_a_lead_is_given_up_only_when_no_look_is_under_way(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Slow()
    one, _two = await sharing(make, client, source)
    live_state().watch("east", "g", source.at_ms / 1000 + 60)
    source.asked.clear()
    source.answers.clear()
    look = asyncio.ensure_future(one.sweep_watched())
    await source.asked.wait()
    giving_up = asyncio.ensure_future(sweep(one, source, 10))

    async def handing_on() -> bool:
        return one._handing_on

    await until_seen(handing_on, bool)
    assert await client.get(lease_key("east")) == one.lease.token.encode()
    source.answers.set()
    await asyncio.gather(look, giving_up)
    assert one.figures.refused == 0
    assert one.figures.leading == 0


async def test_a_lead_is_kept_while_the_database_does_not_take_what_is_known(
    make: Make, client: redis.asyncio.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Growing()
    one, _two = await sharing(make, client, source)

    async def refuse(_now_ms: int) -> None:
        one.keeper.database_error = "locked"

    monkeypatch.setattr(one.keeper, "keep_turns", refuse)
    await sweep(one, source, 10)
    assert one.figures.leading == 1
