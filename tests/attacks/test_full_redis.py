"""Redis at its limit of memory: it refuses writes, or forgets what we wrote."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.test import Client
from django.urls import reverse

from dashboard.config.cached import redis_cache
from dashboard.fleet.claims import RENEW_SECONDS
from dashboard.live.names import group_key, lease_key
from dashboard.live.publishing import GroupUpdate, Publisher
from dashboard.live.state import LeaderState, live_state, make_async_client
from dashboard.models import Epoch, ManagedMember, Role, User
from tests.dashboard.collector.test_cluster_collector import (
    Make,
    Seen,
    client,
    divided,
    make,
)
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import group_state, overview, waiting_for_locks
from tests.dashboard.fleet.test_host import Make as MakeHost
from tests.dashboard.fleet.test_host import Now, cluster, followed, in_thread
from tests.dashboard.fleet.test_host import make as make_host
from tests.dashboard.fleet.wishes import group
from tests.support.valkey import Valkey

__all__ = ["client", "cluster", "make", "make_host"]

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def full(valkey: Valkey) -> Iterator[None]:
    """Let Redis refuse every write that takes memory."""
    with redis.Redis(port=valkey.port) as server:
        server.config_set("maxmemory", 1)
        try:
            with pytest.raises(redis.exceptions.OutOfMemoryError):
                server.set("anything", 1)
            yield
        finally:
            server.config_set("maxmemory", 0)


def epochs() -> list[tuple[int, bool]]:
    rows = Epoch.objects.order_by("number").values_list("number", "ended_by")
    return [(number, ended is not None) for number, ended in rows]


def published() -> tuple[str, int]:
    overview = live_state().overview("east")
    assert overview is not None
    return overview["run"], overview["seq"]


async def test_a_collector_keeps_lead_epochs_and_samples(
    make: Make, valkey: Valkey, tmp_path: Path
) -> None:
    source = Seen(divided("c1"))
    collector = make(source)
    await collector.sweep_all()
    before = await sync_to_async(published)()
    with full(valkey):
        source.groups_now = (divided("c1", "c2"),)
        for _again in range(2):
            collector.lease.doubt()
            await collector.sweep_all()
        assert await sync_to_async(epochs)() == [(1, True), (2, False)]
        assert collector.keeper.pending_rows or list(tmp_path.rglob("*.parquet"))
        figures = collector.figures
        assert (figures.sweeps, figures.failed, figures.refused) == (3, 0, 0)
        assert await sync_to_async(published)() == before
    await collector.sweep_all()
    run, number = await sync_to_async(published)()
    assert (run, number > before[1], collector.figures.leads) == (before[0], True, 1)
    assert await sync_to_async(epochs)() == [(1, True), (2, False)]


async def test_a_redis_that_forgets_everything_turns_no_epoch(
    make: Make, valkey: Valkey
) -> None:
    collector = make(Seen(divided("c1")))
    await collector.sweep_all()
    before = await sync_to_async(published)()
    with redis.Redis(port=valkey.port) as server:
        server.flushall()
    for _again in range(2):
        await collector.sweep_all()
    run, number = await sync_to_async(published)()
    assert (run, number > before[1]) == (before[0], True)
    assert (collector.figures.leads, collector.figures.lapses) == (1, 1)
    assert await sync_to_async(epochs)() == [(1, False)]


async def test_no_member_leaves_its_group(
    make_host: MakeHost, valkey: Valkey, client: Any
) -> None:
    await in_thread(group)
    now = Now()
    host, other = make_host("w1", now), make_host("w2", now)
    await followed(host, [16])
    with full(valkey):
        for _round in range(5):
            now.ahead += RENEW_SECONDS + 1
            await host.follow_once()
            await other.follow_once()
            host.look_at_claims()
            assert [each.claim.fence for each in host.hosted.values()] == [1]
            assert other.hosted == {}
    row = await ManagedMember.objects.aget()
    assert (row.worker, row.fence) == ("w1", 1)


@pytest.fixture
def cached(valkey: Valkey, settings: Any) -> None:
    settings.CACHES = {"default": redis_cache(valkey.url)}


def test_people_sign_in_and_stay_signed_in(cached: None, valkey: Valkey) -> None:
    User.objects.create_user("olga", password="correct horse battery")
    browser = Client()
    with full(valkey):
        for password, status in (("wrong", 200), ("correct horse battery", 302)):
            form = {"username": "olga", "password": password}
            assert browser.post(reverse("sign_in"), form).status_code == status
        assert browser.get("/reports/").status_code == 200


@pytest.mark.parametrize("page", ["", "groups/order-settlement/"])
def test_pages_say_what_is_the_matter_until_it_is_over(
    write: Write, sign_in: SignIn, valkey: Valkey, page: str
) -> None:
    write(overview(), waiting_for_locks())
    browser = sign_in(Role.VIEWER)
    said = "Redis has reached its memory limit"
    with full(valkey):
        assert said in browser.get(f"/clusters/hangzhou/{page}").content.decode()
    assert said not in browser.get(f"/clusters/hangzhou/{page}").content.decode()


async def test_a_document_that_redis_refuses_keeps_no_other_back(
    valkey: Valkey,
) -> None:
    lease, names = lease_key("east"), [f"g{number}" for number in range(7)]
    client = make_async_client(valkey.url)
    await client.set(lease, "t")
    taken = [group_key("east", name) for name in names if name != "g3"]
    everybody = {"enabled": True, "nopass": True}
    await client.acl_setuser(
        "default", reset_keys=True, keys=[lease, *taken], **everybody
    )
    try:
        publisher = Publisher(LeaderState(client, "east", "t"), get_channel_layer())
        assert await publisher.groups(
            [
                GroupUpdate({**group_state([], []), "cluster": "east", "group": name})
                for name in names
            ]
        )
        stored = await client.mget(taken)
    finally:
        await client.acl_setuser("default", keys=["*"], **everybody)
        await client.aclose()
    assert all(stored)
