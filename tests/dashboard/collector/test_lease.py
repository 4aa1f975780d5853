from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import redis.asyncio

from dashboard.collector.lease import LEASE_SECONDS, Lease
from dashboard.live.names import fence_key, lease_key
from dashboard.live.state import make_async_client
from tests.support.valkey import Valkey

NOW = 1_700_000_000_000


@pytest.fixture
async def client(valkey: Valkey) -> AsyncIterator[redis.asyncio.Redis]:
    client = make_async_client(valkey.url)
    yield client
    await client.aclose()


async def test_one_of_two_leads(client: redis.asyncio.Redis) -> None:
    first, second = Lease(client, "east", "one"), Lease(client, "east", "two")
    assert await first.hold(NOW)
    assert not await second.hold(NOW)
    assert second.token == ""
    assert await first.hold(NOW + 1000)


async def test_each_cluster_has_its_own_lead(client: redis.asyncio.Redis) -> None:
    assert await Lease(client, "east", "one").hold(NOW)
    assert await Lease(client, "west", "two").hold(NOW)


async def test_renewing_keeps_the_token_and_lengthens_the_lease(
    client: redis.asyncio.Redis,
) -> None:
    lease = Lease(client, "east", "one")
    await lease.hold(NOW)
    token = lease.token
    await client.pexpire(lease_key("east"), 50)
    await lease.hold(NOW + 1000)
    assert lease.token == token
    assert await client.pttl(lease_key("east")) > LEASE_SECONDS * 1000 - 500


async def test_a_lease_that_ran_out_goes_to_another_with_a_higher_fence(
    client: redis.asyncio.Redis,
) -> None:
    frozen, other = Lease(client, "east", "one"), Lease(client, "east", "two")
    await frozen.hold(NOW)
    before = frozen.token
    await client.delete(lease_key("east"))
    assert await other.hold(NOW)
    assert int(other.token.rpartition("|")[2]) > int(before.rpartition("|")[2])
    assert not await frozen.hold(NOW)


async def test_fences_grow_even_when_the_cache_forgot_them(
    client: redis.asyncio.Redis,
) -> None:
    lease = Lease(client, "east", "one")
    await lease.hold(NOW)
    before = int(lease.token.rpartition("|")[2])
    await client.delete(lease_key("east"), fence_key("east"))
    await lease.hold(NOW + 5)
    assert int(lease.token.rpartition("|")[2]) > before


async def test_who_gives_up_makes_room_at_once(client: redis.asyncio.Redis) -> None:
    first, second = Lease(client, "east", "one"), Lease(client, "east", "two")
    await first.hold(NOW)
    await first.release()
    assert await second.hold(NOW)
    await first.release()
    assert await second.hold(NOW)
