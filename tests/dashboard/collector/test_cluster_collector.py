from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
import redis.asyncio
from channels.layers import get_channel_layer
from django.db import OperationalError

from dashboard import models
from dashboard.clock.moments import as_ms
from dashboard.collector import early_sweeps, keeping
from dashboard.collector.cluster_collector import ClusterCollector
from dashboard.collector.holdings import VOUCHED_MS
from dashboard.live.documents import GroupState
from dashboard.live.holdings import Holding, encode_holding, field_of
from dashboard.live.names import (
    allocation_key,
    gone_key,
    lease_key,
    live_group_name,
    live_overview_name,
)
from dashboard.live.state import live_state, make_async_client
from rmqcore.errors import ConnectError
from rmqcore.model.snapshot import (
    BrokerSnapshot,
    ClusterSnapshot,
    GroupSnapshot,
    KnownBroker,
)
from tests.support.collectors import BrokersOfASource, make_collector, now_ms
from tests.support.valkey import Valkey
from tests.support.waiting import PATIENCE_SECONDS, eventually, until_seen

from .sights import broker, group, keys, member, table
from .sights import cluster as cluster_of

pytestmark = pytest.mark.django_db(transaction=True)

QUEUES = keys(4)


class Seen(BrokersOfASource):
    """A source that shows the groups it was last told to."""

    def __init__(self, *groups: GroupSnapshot) -> None:
        super().__init__()
        self.groups_now = groups
        self.fails: Exception | None = None
        self.sweeps_fail: Exception | None = None
        self.hidden_from_sweeps: set[str] = set()
        self.asked: list[frozenset[str]] = []
        self.brokers_now: list[BrokerSnapshot] | None = None
        self.brokers_of_all: list[BrokerSnapshot] | None = None
        self.gate: asyncio.Event | None = None
        self.reached = asyncio.Event()

    async def snapshot(self) -> ClusterSnapshot:
        self.reached.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.sweeps_fail is not None:
            raise self.sweeps_fail
        groups = [
            without_reports(each)
            for each in self.groups_now
            if each.name not in self.hidden_from_sweeps
        ]
        return self._taken(groups, self.brokers_of_all)

    async def groups(self, names: Collection[str]) -> ClusterSnapshot:
        self.asked.append(frozenset(names))
        return self._taken([each for each in self.groups_now if each.name in names])

    def _taken(
        self,
        groups: list[GroupSnapshot],
        brokers: list[BrokerSnapshot] | None = None,
    ) -> ClusterSnapshot:
        if self.fails is not None:
            raise self.fails
        seen = cluster_of(*groups, brokers=brokers or self.brokers_now)
        return ClusterSnapshot(now_ms(), seen.brokers, seen.topics, seen.groups)


def without_reports(seen: GroupSnapshot) -> GroupSnapshot:
    expected = [owners[0] for owners in seen.inferred.by_row]
    members = [member(each.client_id) for each in seen.members]
    return group(seen.queues, members, expected=expected, name=seen.name)


def divided(*clients: str, name: str = "g") -> GroupSnapshot:
    """A group whose members hold equal blocks of the four queues."""
    size = len(QUEUES) // len(clients)
    members = [
        member(client, QUEUES[place * size : (place + 1) * size])
        for place, client in enumerate(clients)
    ]
    expected = [client for client in clients for _ in range(size)]
    return group(table(QUEUES), members, expected=expected, name=name)


Make = Callable[..., ClusterCollector]


@pytest.fixture
async def client(valkey: Valkey) -> AsyncIterator[redis.asyncio.Redis]:
    client = make_async_client(valkey.url)
    yield client
    await client.aclose()


@pytest.fixture
async def make(client: redis.asyncio.Redis, tmp_path: Path) -> AsyncIterator[Make]:
    row = await models.Cluster.objects.acreate(name="east")
    made: list[ClusterCollector] = []

    def make(source: Seen, holder: str = "one") -> ClusterCollector:
        folder, number = tmp_path / holder, len(made)
        collector = make_collector(
            row, source, client, folder, holder=holder, run=f"run{number}", seed=number
        )
        made.append(collector)
        return collector

    yield make
    for collector in made:
        await collector.close()


@asynccontextmanager
async def listening(name: str) -> AsyncIterator[Callable[[], Any]]:
    """Listen to a group of the channel layer; the value gives the next message."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(name, channel)

    async def next_message() -> Any:
        message = await asyncio.wait_for(layer.receive(channel), PATIENCE_SECONDS)
        return orjson.loads(message["text"])

    yield next_message
    await layer.group_discard(name, channel)
    await layer.flush()


def shown(name: str = "g") -> GroupState:
    document = live_state().group("east", name)
    assert document is not None
    return document


def owners(name: str = "g") -> list[list[str]]:
    return [queue["owners"] for queue in shown(name)["queues"]]


async def answered_by_the_list() -> dict[str, bool]:
    overview = live_state().overview("east")
    assert overview is not None
    return {each["name"]: each["answered"] for each in overview["brokers"]}


async def test_a_sweep_of_all_writes_documents_and_the_overview(make: Make) -> None:
    await make(Seen(divided("c1", name="a"), divided("c1", "c2", name="b"))).sweep_all()
    overview = live_state().overview("east")
    assert overview is not None
    assert [row["group"] for row in overview["groups"]] == ["a", "b"]
    assert overview["seq"] == 1
    assert owners("b") == [["c1"], ["c1"], ["c2"], ["c2"]]
    assert shown("a")["run"] == overview["run"]


async def test_the_overview_tells_that_the_lake_cannot_be_written(
    make: Make, tmp_path: Path
) -> None:
    (tmp_path / "one").write_text("a file where the lake's folder should be")
    collector = make(Seen(divided("c1")))
    await collector.sweep_all()
    await collector.keeper.keep(None, now_ms() + 120_000)
    await collector.sweep_all()
    overview = live_state().overview("east")
    assert overview is not None
    fault = overview.get("lake")
    assert fault is not None
    assert "NotADirectoryError" in fault["error"]
    assert fault["pending_rows"] > 0
    (tmp_path / "one").unlink()
    await collector.keeper.keep(None, now_ms() + 240_000)
    await collector.sweep_all()
    overview = live_state().overview("east")
    assert overview is not None
    assert "lake" not in overview


async def test_members_of_groups_nobody_watches_are_asked_too(make: Make) -> None:
    source = Seen(divided("c1"))
    await make(source).sweep_all()
    assert source.asked == [frozenset({"g"})]
    assert shown()["queues"][0]["owner_source"] == "reported"


async def test_watched_groups_get_numbered_updates(make: Make) -> None:
    source = Seen(divided("c1"))
    collector = make(source)
    await collector.sweep_all()
    live_state().watch("east", "g", time.time())
    async with listening(live_group_name("east", "g")) as next_message:
        source.groups_now = (divided("c1", "c2"),)
        before = shown()
        await collector.sweep_watched()
        update = await next_message()
    assert (update["run"], update["seq"]) == (before["run"], before["seq"] + 1)
    assert sorted(update["changes"]["queues"]) == ["orders|a|2", "orders|a|3"]
    assert update["changes"]["last_change"]["text_key"] == "member_joined"
    assert [m["client_id"] for m in update["changes"]["members"]] == ["c1", "c2"]
    assert owners() == [["c1"], ["c1"], ["c2"], ["c2"]]


async def test_the_first_tick_of_a_lead_sweeps_everything(make: Make) -> None:
    await make(Seen(divided("c1"))).sweep_watched()
    assert live_state().overview("east") is not None


async def test_unwatched_groups_are_not_swept_each_second(make: Make) -> None:
    source = Seen(divided("c1"))
    collector = make(source)
    await collector.sweep_all()
    source.asked.clear()
    await collector.sweep_watched()
    assert source.asked == []


async def test_the_list_tells_at_once_that_a_broker_answers_again(make: Make) -> None:
    source = Seen(divided("c1"))
    source.brokers_now = [broker("a"), broker("b", answered=False)]
    collector = make(source)
    await collector.sweep_all()
    live_state().watch("east", "g", time.time())
    await collector.sweep_watched()
    assert await answered_by_the_list() == {"a": True, "b": False}
    source.brokers_now = [broker("a"), broker("b")]
    await collector.sweep_watched()
    await eventually(answered_by_the_list, {"a": True, "b": True})
    await collector.sweep_watched()
    await collector.at_rest()
    assert collector.figures.sweeps == 2


async def test_a_broker_that_looks_alone_hear_costs_one_sweep_a_tick(
    make: Make,
) -> None:
    async def sweeps() -> int:
        return collector.figures.sweeps

    source = Seen(divided("c1"))
    source.brokers_now = [broker("a")]
    source.brokers_of_all = [broker("a", answered=False)]
    collector = make(source)
    live_state().watch("east", "g", time.time())
    await collector.sweep_all()
    await collector.sweep_watched()
    await eventually(sweeps, 2)
    # A sweep is counted before all that belongs to it is stored.
    await collector.at_rest()
    await collector.sweep_watched()
    await collector.sweep_all()
    assert collector.figures.sweeps == 3
    await collector.sweep_watched()
    await eventually(sweeps, 4)


async def test_a_sweep_before_its_tick_stands_for_the_tick(make: Make) -> None:
    source = Seen(divided("c1"))
    source.brokers_now = [broker("a", answered=False)]
    collector = make(source)
    live_state().watch("east", "g", time.time())
    await collector.sweep_all()
    source.brokers_now = [broker("a")]
    source.gate = asyncio.Event()
    source.reached.clear()
    await collector.sweep_watched()
    await source.reached.wait()
    await collector.sweep_all()
    source.gate.set()
    await eventually(answered_by_the_list, {"a": True})
    overview = live_state().overview("east")
    assert overview is not None
    assert "late" not in overview
    assert collector.figures.skipped == 0


async def test_an_overlapping_sweep_is_skipped_and_counted(make: Make) -> None:
    source = Seen(divided("c1"))
    collector = make(source)
    source.gate = asyncio.Event()
    slow = asyncio.ensure_future(collector.sweep_all())
    await asyncio.sleep(0)
    await collector.sweep_all()
    assert collector.figures.skipped == 1
    source.gate.set()
    await slow
    assert collector.figures.sweeps == 1


async def test_a_late_sweep_is_told_and_one_in_time_is_not(make: Make) -> None:
    collector = make(Seen(divided("c1")))
    await collector.sweep_all({"late_ms": 7_000, "skipped": 1, "held_ms": 300})
    overview = live_state().overview("east")
    assert overview is not None
    assert overview.get("late") == {"late_ms": 7_000, "skipped": 1, "held_ms": 300}
    await collector.sweep_all()
    overview = live_state().overview("east")
    assert overview is not None
    assert "late" not in overview


async def test_a_sweep_that_was_skipped_is_told_with_the_next(make: Make) -> None:
    source = Seen(divided("c1"))
    collector = make(source)
    source.gate = asyncio.Event()
    slow = asyncio.ensure_future(collector.sweep_all())
    await source.reached.wait()
    await collector.sweep_all()
    source.gate.set()
    await slow
    overview = live_state().overview("east")
    assert overview is not None
    assert overview.get("late") == {"late_ms": 0, "skipped": 1, "held_ms": 0}


async def test_only_the_leader_sweeps(make: Make) -> None:
    second = Seen(divided("c1"))
    await make(Seen(divided("c1")), "one").sweep_all()
    standby = make(second, "two")
    await standby.sweep_all()
    assert second.asked == []
    assert standby.figures.leading == 0


async def test_a_leader_that_lost_its_lease_meanwhile_writes_nothing(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Seen(divided("c1"))
    collector = make(source)
    await collector.sweep_all()
    before = shown()
    source.gate = asyncio.Event()
    source.reached.clear()
    frozen = asyncio.ensure_future(collector.sweep_all())
    await source.reached.wait()
    await client.set(lease_key("east"), "other|9")
    source.groups_now = (divided("c1", "c2"),)
    source.gate.set()
    await frozen
    assert shown() == before


async def test_a_new_lead_goes_on_with_the_epoch(make: Make) -> None:
    first = make(Seen(divided("c1")), "one")
    await first.sweep_all()
    before = shown()
    await first.close()
    await make(Seen(divided("c1")), "two").sweep_all()
    assert shown()["epoch"] == before["epoch"]
    assert await models.Epoch.objects.acount() == 1


async def test_a_cluster_that_cannot_be_reached_is_told(make: Make) -> None:
    source = Seen(divided("c1"))
    collector = make(source)
    await collector.sweep_all()
    source.fails = ConnectError("127.0.0.1:9876: connection refused")
    async with listening(live_overview_name("east")) as next_message:
        await collector.sweep_all()
        digest = await next_message()
    assert digest["error"] == "127.0.0.1:9876: connection refused"
    assert [row["group"] for row in digest["groups"]] == ["g"]
    assert collector.figures.failed == 1
    source.fails = None
    await collector.sweep_all()
    overview = live_state().overview("east")
    assert overview is not None
    assert "error" not in overview


async def test_a_cluster_never_reached_has_an_overview_with_the_reason(
    make: Make,
) -> None:
    source = Seen()
    source.fails = ConnectError("127.0.0.1:9876: connection refused")
    await make(source).sweep_all()
    overview = live_state().overview("east")
    assert overview is not None
    assert (overview["error"], list(overview["groups"])) == (str(source.fails), [])


async def test_a_group_that_is_gone_loses_its_document(make: Make) -> None:
    source = Seen(divided("c1", name="a"), divided("c1", name="b"))
    collector = make(source)
    await collector.sweep_all()
    source.groups_now = source.groups_now[:1]
    await collector.sweep_all()
    assert live_state().group("east", "b") is None
    overview = live_state().overview("east")
    assert overview is not None
    assert [row["group"] for row in overview["groups"]] == ["a"]


async def test_a_fleet_members_word_is_shown_at_once(make: Make) -> None:
    source = Seen(divided("c1"))
    collector = make(source)
    await collector.sweep_all()
    following = asyncio.ensure_future(collector.follow_notices())
    source.groups_now = (without_reports(divided("c1", "c2")),)
    for client_id, queues in (("c1", QUEUES[:1]), ("c2", QUEUES[1:])):
        word = Holding("g", client_id, queues, now_ms(), now_ms())
        collector.take_holding(encode_holding(word))

    async def seen() -> list[list[str]]:
        return owners()

    await eventually(seen, [["c1"], ["c2"], ["c2"], ["c2"]])
    assert shown()["queues"][1]["owner_source"] == "reported"
    assert all(each["managed"] for each in shown()["members"])
    busy = Holding("g", "c2", QUEUES[1:], now_ms(), now_ms(), busy_since_ms=1_000)
    collector.take_holding(encode_holding(busy))

    async def busy_since() -> list[int | None]:
        return [each["busy_since"] for each in shown()["members"]]

    await eventually(busy_since, [None, 1_000])
    following.cancel()


async def test_a_fleet_members_last_word_reaches_those_who_would_miss_it(
    make: Make,
) -> None:
    source = Seen(divided("c1", "c2"))
    collector = make(source)
    await collector.sweep_all()
    word = Holding("g", "c2", (), now_ms(), now_ms(), left=True)
    collector.take_holding(encode_holding(word))
    assert source.left == {("g", "c2")}
    back = Holding("g", "c2", QUEUES[1:], now_ms(), now_ms())
    collector.take_holding(encode_holding(back))
    assert source.left == set()


async def test_words_from_before_the_lead_are_known(
    make: Make, client: redis.asyncio.Redis
) -> None:
    word = Holding("g", "c1", QUEUES, now_ms(), now_ms())
    await client.hset(allocation_key("east"), field_of("g", "c1"), encode_holding(word))
    await make(Seen(without_reports(divided("c1")))).sweep_all()
    assert shown()["queues"][0]["owner_source"] == "reported"


async def test_the_word_of_a_killed_member_is_forgotten(
    make: Make, client: redis.asyncio.Redis
) -> None:
    key, old_ms = allocation_key("east"), now_ms() - VOUCHED_MS - 1
    collector = make(Seen(divided("c1")))
    await collector.sweep_all()
    for client_id, vouched_ms in (("killed", old_ms), ("c1", now_ms())):
        word = encode_holding(Holding("g", client_id, QUEUES, old_ms, vouched_ms))
        await client.hset(key, field_of("g", client_id), word)
        collector.take_holding(word)
    await collector.sweep_all()
    assert await client.hkeys(key) == [field_of("g", "c1").encode()]


async def test_an_unreadable_word_is_ignored(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    collector = make(Seen(divided("c1")))
    await collector.sweep_all()
    collector.take_holding(b"{")
    assert "unreadable holding" in caplog.text


async def test_a_changed_group_is_looked_at_again_soon(make: Make) -> None:
    source = Seen(divided("c1"))
    collector = make(source)
    await collector.sweep_all()
    following = asyncio.ensure_future(collector.follow_notices())
    live_state().watch("east", "g", time.time())
    source.groups_now = (divided("c1", "c2"),)
    source.asked.clear()
    await collector.sweep_watched()

    async def asked() -> int:
        return len(source.asked)

    await until_seen(asked, lambda count: count == 2)
    following.cancel()


async def test_a_watched_group_that_is_new_is_shown_and_listed_at_once(
    make: Make,
) -> None:
    async def listed() -> set[str]:
        overview = live_state().overview("east")
        assert overview is not None
        return {row["group"] for row in overview["groups"]}

    source = Seen(divided("c1", name="a"))
    collector = make(source)
    await collector.sweep_all()
    live_state().watch("east", "new", time.time())
    await collector.sweep_watched()
    assert live_state().group("east", "new") is None
    source.groups_now = (*source.groups_now, divided("c1", name="new"))
    async with listening(live_group_name("east", "new")) as next_message:
        await collector.sweep_watched()
        assert (await next_message())["seq"] == 1
    assert owners("new") == [["c1"]] * 4
    await eventually(listed, {"a", "new"})
    await collector.at_rest()
    assert collector.figures.sweeps == 2
    await eventually(models.Epoch.objects.filter(group="new").acount, 1)


async def test_groups_that_come_one_after_another_are_listed_before_the_tick(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def listed() -> set[str]:
        overview = live_state().overview("east")
        assert overview is not None
        return {row["group"] for row in overview["groups"] if row["members"]}

    monkeypatch.setattr(early_sweeps, "REST_SECONDS", 0.01)
    source = Seen()
    collector = make(source)
    await collector.sweep_all()
    names: set[str] = set()
    for name in ("first", "second", "third"):
        live_state().watch("east", name, time.time())
        names.add(name)
        source.groups_now = (*source.groups_now, divided("c1", name=name))
        await collector.sweep_watched()
        await eventually(listed, names)
    assert collector.figures.skipped == 0


async def test_a_group_that_looks_alone_see_costs_one_sweep_a_tick(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sweeps() -> int:
        return collector.figures.sweeps

    monkeypatch.setattr(early_sweeps, "REST_SECONDS", 0.0)
    monkeypatch.setattr(early_sweeps, "REST", 0)
    source = Seen(divided("c1", name="a"))
    source.hidden_from_sweeps = {"new"}
    collector = make(source)
    live_state().watch("east", "new", time.time())
    await collector.sweep_all()
    source.groups_now = (*source.groups_now, divided("c1", name="new"))
    await collector.sweep_watched()
    await eventually(sweeps, 2)
    for _ in range(5):
        await collector.at_rest()
        await collector.sweep_watched()
        await asyncio.sleep(0.02)
    assert await sweeps() == 2


async def test_an_early_sweep_that_fails_is_not_repeated_before_the_tick(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(early_sweeps, "REST_SECONDS", 0.0)
    source = Seen(divided("c1", name="a"))
    collector = make(source)
    await collector.sweep_all()
    live_state().watch("east", "new", time.time())
    source.groups_now = (*source.groups_now, divided("c1", name="new"))
    source.sweeps_fail = ConnectError("nobody listens")
    await collector.sweep_watched()
    await collector.at_rest()
    await asyncio.sleep(0.05)
    assert collector.figures.failed == 1
    source.sweeps_fail = None
    await collector.sweep_all()
    assert collector.figures.failed == 1
    assert collector.figures.sweeps == 2


async def test_a_group_met_after_a_sweep_began_is_not_gone(make: Make) -> None:
    source = Seen(divided("c1", name="a"))
    collector = make(source)
    await collector.sweep_all()
    live_state().watch("east", "new", time.time())
    earlier = await source.snapshot()
    source.groups_now = (*source.groups_now, divided("c1", name="new"))
    await asyncio.sleep(0.002)
    await collector.sweep_watched()
    assert collector._lead is not None
    await collector._lead.drop_all_but(earlier)
    assert owners("new") == [["c1"]] * 4


async def epochs(group: str) -> list[tuple[int, bool]]:
    rows = models.Epoch.objects.filter(group=group).order_by("number")
    return [(row.number, row.ended_by is None) async for row in rows]


async def test_a_group_that_is_deleted_ends_its_epoch(make: Make) -> None:
    source = Seen(divided("c1", name="a"), divided("c1", name="b"))
    collector = make(source)
    await collector.sweep_all()
    source.groups_now = source.groups_now[:1]
    await asyncio.sleep(0.002)
    await collector.sweep_all()
    assert await epochs("b") == [(1, False)]
    row = await models.Epoch.objects.aget(group="b")
    assert row.owners == [["orders", "a", number, ["c1"]] for number in range(4)]
    assert await epochs("a") == [(1, True)]
    assert live_state().group("east", "b") is None
    source.groups_now = (*source.groups_now, divided("c1", name="b"))
    await collector.sweep_all()
    assert await epochs("b") == [(1, False), (2, True)]


async def test_a_group_deleted_while_nobody_led_ends_its_epoch(make: Make) -> None:
    first = make(Seen(divided("c1", name="a"), divided("c1", name="b")), "one")
    await first.sweep_all()
    await first.close()
    await make(Seen(divided("c1", name="a")), "two").sweep_all()
    assert await epochs("b") == [(1, False)]
    assert await epochs("a") == [(1, True)]


@pytest.mark.parametrize("answered", [True, False])
async def test_a_group_deleted_while_nobody_led_loses_its_document(
    make: Make, answered: bool
) -> None:
    first = make(Seen(divided("c1", name="a"), divided("c1", name="b")), "one")
    await first.sweep_all()
    await first.close()
    source = Seen(divided("c1", name="a"))
    source.brokers_now = [broker(), broker("b", answered=answered)]
    second = make(source, "two")
    await second.sweep_all()
    assert (live_state().group("east", "b") is None) is answered
    source.brokers_now = [broker()]
    await second.sweep_all()
    assert live_state().group("east", "b") is None


async def test_brokers_are_known_to_the_next_collector(make: Make) -> None:
    source = Seen(divided("c1"))
    source.known["a"] = KnownBroker("a", "C", {0: "10.0.0.1:10911"}, {}, now_ms())
    first = make(source)
    await first.sweep_all()
    await first.close()
    successor = Seen(divided("c1"))
    await make(successor, "two").sweep_all()
    assert successor.known == source.known


async def test_a_missing_broker_is_gone_once_somebody_says_so(
    make: Make, client: redis.asyncio.Redis
) -> None:
    source = Seen(divided("c1"))
    source.known["a"] = KnownBroker("a", "C", {0: "10.0.0.1:10911"}, {}, now_ms())
    collector = make(source)
    await collector.sweep_all()
    assert list(source.known) == ["a"]
    await client.hset(gone_key("east"), "a", b"{}")  # type: ignore[misc]
    await collector.sweep_all()
    assert source.known == {}
    assert await client.exists(gone_key("east")) == 0
    assert await models.KnownBroker.objects.acount() == 0


async def test_sweeps_go_on_while_the_database_is_away(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Seen(divided("c1"))
    collector = make(source)
    await collector.sweep_all()

    def locked(*_given: object) -> Any:
        raise OperationalError("database is locked")

    with monkeypatch.context() as outage:
        outage.setattr(collector, "_wanted_strategies", locked)
        outage.setattr(keeping, "save_turns", locked)
        before = now_ms()
        source.groups_now = (divided("c1", "c2"),)
        await collector.sweep_all()
        after = now_ms()
        await collector.sweep_all()
        assert (collector.figures.sweeps, collector.figures.failed) == (3, 0)
        assert await models.Epoch.objects.acount() == 1
    await collector.sweep_all()
    first, second = [each async for each in models.Epoch.objects.order_by("number")]
    assert first.ended_by == second.began_by
    assert before <= as_ms(second.began_by) <= after, "when it was seen, not written"
