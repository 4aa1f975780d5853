"""Hosting on a real embedded cluster: wishes followed, claims kept, timers run."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
import redis.asyncio
from django.db import DatabaseError, connections

from dashboard.clock.ticks import Tick, tick_at
from dashboard.fleet import listeners
from dashboard.fleet.announcing import Announcer
from dashboard.fleet.claims import CLAIM_SECONDS
from dashboard.fleet.host import FleetHost
from dashboard.fleet.planning import WorkerName
from dashboard.fleet.runs import skipped_run
from dashboard.gateway.settings import ClusterSettings
from dashboard.hosting.writes import remove_group
from dashboard.live.holdings import decode_holding
from dashboard.live.names import allocation_channel, allocation_key, heartbeats_key
from dashboard.live.state import make_async_client
from dashboard.models import ManagedGroup, ManagedMember, TimerRun
from rmqcore.admin import Admin
from rmqcore.client import ConsumeResult
from rmqcore.cluster import LocalCluster
from rmqcore.timers import PERIOD_S, Timer
from tests.support.cluster import local_cluster, produce, settings_of
from tests.support.valkey import Valkey
from tests.support.waiting import PATIENCE_SECONDS, eventually, until_seen

from .wishes import group

pytestmark = pytest.mark.django_db(transaction=True)


class Now:
    """Wall time that a test can move on."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


@pytest.fixture
async def cluster() -> AsyncIterator[LocalCluster]:
    async with local_cluster() as cluster:
        yield cluster


@pytest.fixture
async def client(valkey: Valkey) -> AsyncIterator[redis.asyncio.Redis]:
    client = make_async_client(valkey.url)
    yield client
    await client.aclose()


Make = Callable[..., FleetHost]


@pytest.fixture
async def make(
    cluster: LocalCluster, client: redis.asyncio.Redis
) -> AsyncIterator[Make]:
    thread = ThreadPoolExecutor(1)
    made: list[FleetHost] = []

    async def database(work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(thread, work)

    known = {
        "east": settings_of(cluster),
        "prod": ClusterSettings("prod", (cluster.nameserver_address,)),
    }

    def make(
        name: str = "w1",
        now: Callable[[], float] = time.time,
        steady: Callable[[], float] | None = None,
    ) -> FleetHost:
        host = FleetHost(
            WorkerName(name, "h", 1, datetime.now(UTC)),
            clusters=lambda: known,
            announcer=Announcer(client),
            client=client,
            database=database,
            now=now,
            steady=steady or now,
        )
        made.append(host)
        return host

    yield make
    for host in made:
        await host.close()
    thread.submit(connections.close_all).result()
    thread.shutdown()


async def in_thread(work: Callable[[], Any]) -> Any:
    def run() -> Any:
        try:
            return work()
        finally:
            connections.close_all()

    return await asyncio.to_thread(run)


def held(*hosts: FleetHost) -> Callable[[], Awaitable[list[int]]]:
    """Return a question: how many queues of the topic each member holds."""

    async def ask() -> list[int]:
        members = [m for host in hosts for m in host.hosted.values()]
        return sorted(len(m._holding().queues) for m in members)

    return ask


async def followed(host: FleetHost, expected: list[int]) -> None:
    """Follow wishes until the members hold that many queues each."""

    async def step() -> list[int]:
        await host.follow_once()
        return await held(host)()

    await eventually(step, expected)


def tick(timer: Timer, now: float) -> Tick:
    return tick_at(timer, PERIOD_S[timer], now, "beat@test")


async def test_members_join_and_leave_as_wished(make: Make) -> None:
    await in_thread(group)
    host = make()
    await followed(host, [16])
    await ManagedMember.objects.acreate(
        group=await ManagedGroup.objects.aget(), number=2
    )
    await followed(host, [8, 8])
    await ManagedMember.objects.filter(number=1).aupdate(wanted=False)
    await followed(host, [16])
    await eventually(ManagedMember.objects.acount, 1)


async def test_the_row_tells_host_and_client(make: Make) -> None:
    await in_thread(group)
    host = make()
    await followed(host, [16])

    async def row() -> tuple[str, bool]:
        found = await ManagedMember.objects.aget()
        return found.worker, found.client_id.endswith("@billing-1.1")

    await eventually(row, ("w1", True))


def queues_by_number(host: FleetHost) -> dict[int, list[int]]:
    """Return the queue ids that each started member holds, by its number."""
    return {
        m.spec.number: [queue_id for _t, _b, queue_id in m._holding().queues]
        for m in host.hosted.values()
        if m.started
    }


async def test_a_changed_strategy_is_switched_where_it_runs(make: Make) -> None:
    await in_thread(lambda: group(2))
    host = make()
    await followed(host, [8, 8])
    before = dict(host.hosted)
    await ManagedGroup.objects.aupdate(revision=2, strategy="AVG_BY_CIRCLE")

    async def step() -> dict[int, list[int]]:
        await host.follow_once()
        return queues_by_number(host)

    await eventually(step, {1: list(range(0, 16, 2)), 2: list(range(1, 16, 2))})
    assert dict(host.hosted) == before, "the members were not started anew"


async def test_config_lists_are_members_own_by_number(make: Make) -> None:
    await in_thread(lambda: group(2))
    host = make()
    await followed(host, [8, 8])
    lists = {"2": [["orders", "broker-a", "0-2"]], "1": [["orders", "broker-a", "15"]]}
    await ManagedGroup.objects.aupdate(
        revision=2, strategy="CONFIG", strategy_options={"config": lists}
    )

    async def step() -> dict[int, list[int]]:
        await host.follow_once()
        return queues_by_number(host)

    await eventually(step, {1: [15], 2: [0, 1, 2]})


async def test_a_changed_wish_starts_the_member_anew(make: Make) -> None:
    await in_thread(group)
    host = make()
    await followed(host, [16])
    (before,) = host.hosted.values()
    await ManagedGroup.objects.aupdate(revision=2, orderly=True)

    async def step() -> list[bool]:
        await host.follow_once()
        return [m.spec.orderly for m in host.hosted.values() if m.started]

    await eventually(step, [True])
    (after,) = host.hosted.values()
    assert after is not before
    assert after.claim.fence == before.claim.fence


async def test_a_group_that_leaves_goes_with_its_last_member(
    make: Make, cluster: LocalCluster
) -> None:
    await in_thread(lambda: group(2))
    host = make()
    await followed(host, [8, 8])
    await in_thread(lambda: remove_group(None, "east", "billing", "over"))

    async def step() -> tuple[int, int]:
        await host.follow_once()
        return len(host.hosted), await ManagedGroup.objects.acount()

    await eventually(step, (0, 0))
    state = cluster.brokers["broker-a"].state
    assert state.consumers.group("billing") is None, "the members said goodbye"


async def test_each_change_of_queues_is_told_at_once(
    make: Make, client: redis.asyncio.Redis
) -> None:
    async with client.pubsub(ignore_subscribe_messages=True) as words:
        await words.subscribe(allocation_channel("east"))
        await in_thread(group)
        host = make()
        await followed(host, [16])

        async def next_word() -> int:
            message = await words.get_message(timeout=1)
            return len(decode_holding(message["data"]).queues) if message else -1

        await eventually(next_word, 16)
    stored = await client.hvals(allocation_key("east"))
    assert len(decode_holding(stored[0]).queues) == 16


async def test_the_last_word_of_a_member_says_that_it_left(
    make: Make, client: redis.asyncio.Redis
) -> None:
    await in_thread(group)
    host = make()
    await followed(host, [16])
    async with client.pubsub(ignore_subscribe_messages=True) as words:
        await words.subscribe(allocation_channel("east"))
        await host.close()

        async def left() -> bool:
            message = await words.get_message(timeout=1)
            return message is not None and decode_holding(message["data"]).left

        await eventually(left, True)


async def test_closing_gives_everything_back_and_keeps_progress(
    make: Make, cluster: LocalCluster, client: redis.asyncio.Redis
) -> None:
    await in_thread(lambda: group(start_position="CONSUME_FROM_FIRST_OFFSET"))
    await produce(cluster, 32)
    host = make()
    await followed(host, [16])
    async with Admin(cluster.nameserver_address) as admin:

        async def consumed() -> int:
            await host._run_timer(tick(Timer.PERSIST_OFFSETS, time.time()))
            snapshot = await admin.snapshot(groups=["billing"])
            return snapshot.groups["billing"].queues.committed.total()

        await eventually(consumed, 32)
        await host.close()
        snapshot = await admin.snapshot(groups=["billing"])
    assert snapshot.groups["billing"].members == ()
    row = await ManagedMember.objects.aget()
    assert (row.worker, row.claimed_until) == ("", None)
    assert await client.hlen(allocation_key("east")) == 0


async def test_a_slot_runs_once_for_all_members_and_is_recorded(make: Make) -> None:
    await in_thread(lambda: group(members=2))
    host = make()
    await followed(host, [8, 8])
    slot = tick(Timer.REBALANCE, time.time() + PERIOD_S[Timer.REBALANCE])
    for _ in range(3):
        host.take(slot)

    async def ran() -> int:
        return len(host._runs)

    await eventually(ran, 1)
    host._saved_at = 0.0
    await host.follow_once()
    run = await TimerRun.objects.aget()
    assert (run.slot, run.members, run.outcome) == (slot.number, 2, "done")
    assert run.asked_by == "beat@test"


async def test_runs_that_the_database_refuses_wait_up_to_a_number(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_arguments: object) -> None:
        raise DatabaseError("the database is away")

    monkeypatch.setattr("dashboard.fleet.host.save_runs", refused)
    monkeypatch.setattr("dashboard.fleet.host.MOST_UNSAVED", 3)
    host = make()
    for number in range(5):
        due = (1000 + number) * PERIOD_S[Timer.REBALANCE]
        host._runs.append(skipped_run(tick(Timer.REBALANCE, due), due))
    host._saved_at = 0.0
    last = host._runs[-3:]
    with pytest.raises(DatabaseError):
        await host._save_runs()
    assert host._runs == last


async def test_late_slots_are_run_without_their_tick(make: Make) -> None:
    now = Now()
    host = make(now=now)
    now.ahead = PERIOD_S[Timer.PERSIST_OFFSETS] + 2
    watching = asyncio.ensure_future(host.watch())

    async def asked_by() -> set[str]:
        return {run.tick.asked_by for run in host._runs}

    await eventually(asked_by, {"worker"})
    watching.cancel()


async def test_a_worker_that_stood_still_abandons_its_members(
    make: Make, cluster: LocalCluster
) -> None:
    await in_thread(group)
    now = Now()
    frozen = make("frozen", now)
    await followed(frozen, [16])
    (member,) = frozen.hosted.values()
    now.ahead = CLAIM_SECONDS + 1
    assert not member.may_act
    slot = tick(Timer.PERSIST_OFFSETS, now())
    frozen.take(slot)
    frozen.look_at_claims()
    assert frozen.hosted == {}

    async def runs() -> list[int]:
        return [run.members for run in frozen._runs]

    await eventually(runs, [0])


async def test_what_it_held_is_taken_over_under_another_client_id(
    make: Make, cluster: LocalCluster, client: redis.asyncio.Redis
) -> None:
    await in_thread(group)
    now = Now()
    frozen = make("frozen", now)
    await followed(frozen, [16])
    now.ahead = CLAIM_SECONDS + 1
    await client.zrem(heartbeats_key(), "frozen")  # the cache's clock has not moved
    other = make("other", now)
    await other.follow_once()
    assert [m.client_id.rpartition(".")[2] for m in other.hosted.values()] == ["2"]
    await frozen.say_alive()
    frozen.look_at_claims()
    assert frozen.hosted == {}, "waking up gives no right back"
    await followed(other, [16])
    await frozen.follow_once()
    assert frozen.hosted == {}


async def test_listeners_wait_while_the_claim_is_over(
    make: Make, cluster: LocalCluster
) -> None:
    await in_thread(lambda: group(start_position="CONSUME_FROM_FIRST_OFFSET"))
    now = Now()
    host = make(now=now)
    await followed(host, [16])
    (member,) = host.hosted.values()
    now.ahead = CLAIM_SECONDS + 1
    await produce(cluster, 1)
    waiting = asyncio.ensure_future(member._until_it_may_act())
    await asyncio.sleep(0.05)
    assert not waiting.done()
    await host.follow_once()
    await asyncio.wait_for(waiting, PATIENCE_SECONDS)
    assert member.may_act


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"cluster": "west"}, "no cluster 'west' is configured"),
        ({"cluster": "prod"}, "cluster 'prod' is attached read-only"),
        ({"listener": "sing"}, "unknown listener 'sing'"),
        ({"strategy": "FAIR"}, "unknown allocation strategy 'FAIR'"),
    ],
)
async def test_a_member_that_cannot_be_hosted_says_why(
    fields: dict[str, str], said: str, make: Make
) -> None:
    await in_thread(lambda: group(**fields))
    host = make()
    await host.follow_once()

    async def error() -> str:
        return (await ManagedMember.objects.aget()).error

    assert said in await until_seen(error, bool)
    assert host.hosted == {}


async def test_a_member_that_cannot_start_is_tried_again(
    make: Make, cluster: LocalCluster
) -> None:
    await in_thread(group)
    now = Now()
    host = make(now=now)
    port = int(cluster.nameserver_address.rpartition(":")[2])
    await cluster.nameserver.stop()
    await host.follow_once()

    async def error() -> str:
        return (await ManagedMember.objects.aget()).error

    assert str(port) in await until_seen(error, bool)
    await host.follow_once()
    assert not next(iter(host.hosted.values())).started


async def test_a_listener_that_never_returns_holds_up_its_own_group_alone(
    make: Make, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, began, seen = (threading.Event() for _ in range(3))

    def stuck(_messages: object, _context: object) -> ConsumeResult:
        began.set()
        release.wait()
        return ConsumeResult.SUCCESS

    def quick(_messages: object, _context: object) -> ConsumeResult:
        seen.set()
        return ConsumeResult.SUCCESS

    monkeypatch.setitem(listeners._makers, "stuck", lambda _options: stuck)
    monkeypatch.setitem(listeners._makers, "quick", lambda _options: quick)
    first = "CONSUME_FROM_FIRST_OFFSET"
    await in_thread(lambda: group(listener="stuck", start_position=first))
    await produce(cluster, 50)
    # One stuck call would hold up all who share the pool of the loop.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    host = make()

    async def is_set(event: threading.Event) -> bool:
        return event.is_set()

    try:
        await followed(host, [16])
        await eventually(lambda: is_set(began), True)
        await host._database(
            lambda: group(name="b", listener="quick", start_position=first)
        )
        await followed(host, [16, 16])
        await eventually(lambda: is_set(seen), True)
        await ManagedMember.objects.filter(group__name="billing").aupdate(wanted=False)
        await followed(host, [16])
    finally:
        release.set()
