from __future__ import annotations

import signal
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import redis
import redis.asyncio

from dashboard.collector.lease import LEASE_SECONDS, RENEW_SECONDS, Lease, Renewals
from dashboard.live.names import fence_key, lease_key
from dashboard.live.state import LeaderState, make_async_client
from tests.support.valkey import Valkey

NOW = 1_700_000_000_000


@pytest.fixture
async def client(valkey: Valkey) -> AsyncIterator[redis.asyncio.Redis]:
    client = make_async_client(valkey.url)
    yield client
    await client.aclose()


@pytest.fixture
def blocking(valkey: Valkey) -> Iterator[redis.Redis]:
    """A client whose calls hold up whoever makes them."""
    with redis.Redis.from_url(valkey.url) as client:
        yield client


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Valkey]:
    """A server of the test's own, to be stopped and killed."""
    server = Valkey(tmp_path)
    server.start()
    yield server
    server.kill()


def fence(lease: Lease) -> int:
    return int(lease.token.rpartition("|")[2])


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def always() -> bool:
    return True


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
    before = fence(frozen)
    await client.delete(lease_key("east"))
    assert await other.hold(NOW)
    assert fence(other) > before
    assert not await frozen.hold(NOW)


async def test_a_lease_that_ran_out_is_taken_up_again_while_nobody_led(
    client: redis.asyncio.Redis,
) -> None:
    clock = Clock()
    lease = Lease(client, "east", "one", clock=clock)
    await lease.hold(NOW)
    token = lease.token
    await client.delete(lease_key("east"))
    clock.now += LEASE_SECONDS
    assert await lease.hold(NOW + 20_000)
    assert lease.token == token
    assert lease.lapses == 1


async def test_who_led_before_another_takes_a_new_lead(
    client: redis.asyncio.Redis,
) -> None:
    frozen, other = Lease(client, "east", "one"), Lease(client, "east", "two")
    await frozen.hold(NOW)
    token = frozen.token
    await client.delete(lease_key("east"))
    await other.hold(NOW)
    await other.release()
    assert await frozen.hold(NOW)
    assert frozen.token != token
    assert frozen.lapses == 0


async def test_a_cache_that_forgot_everything_gives_the_lease_back(
    client: redis.asyncio.Redis,
) -> None:
    lease = Lease(client, "east", "one")
    await lease.hold(NOW)
    token = lease.token
    await client.flushall()
    assert await lease.hold(NOW + 5)
    assert lease.token == token


async def test_fences_grow_even_when_the_cache_forgot_them(
    client: redis.asyncio.Redis,
) -> None:
    first, second = Lease(client, "east", "one"), Lease(client, "east", "two")
    await first.hold(NOW)
    await client.delete(lease_key("east"), fence_key("east"))
    await second.hold(NOW + 5)
    assert fence(second) > fence(first)
    assert not await first.hold(NOW + 6)


async def test_who_gives_up_makes_room_at_once(client: redis.asyncio.Redis) -> None:
    first, second = Lease(client, "east", "one"), Lease(client, "east", "two")
    await first.hold(NOW)
    await first.release()
    assert await second.hold(NOW)
    await first.release()
    assert await second.hold(NOW)


async def test_a_lease_is_fresh_until_half_of_it_is_over(
    client: redis.asyncio.Redis, blocking: redis.Redis
) -> None:
    clock = Clock()
    lease = Lease(client, "east", "one", clock=clock)
    assert not lease.fresh
    await lease.hold(NOW)
    assert lease.fresh
    clock.now += LEASE_SECONDS / 2
    assert not lease.fresh
    lease.renew(blocking)
    assert lease.fresh
    lease.doubt()
    assert not lease.fresh
    await lease.hold(NOW)
    assert lease.fresh


async def test_a_renewal_that_finds_another_leading_tells_so(
    client: redis.asyncio.Redis, blocking: redis.Redis
) -> None:
    frozen, other = Lease(client, "east", "one"), Lease(client, "east", "two")
    await frozen.hold(NOW)
    await client.delete(lease_key("east"))
    await other.hold(NOW)
    frozen.renew(blocking)
    assert frozen.token == ""
    other.renew(blocking)
    assert other.fresh


async def test_a_renewal_never_takes_a_lease(
    client: redis.asyncio.Redis, blocking: redis.Redis
) -> None:
    lease = Lease(client, "east", "one")
    lease.renew(blocking)
    await lease.hold(NOW)
    await client.delete(lease_key("east"))
    lease.renew(blocking)
    assert not await client.exists(lease_key("east"))
    assert not lease.fresh
    assert lease.token


async def test_a_blocked_loop_keeps_its_lead(
    client: redis.asyncio.Redis, valkey: Valkey, blocking: redis.Redis
) -> None:
    """The loop stands still for three times the lease; the thread renews."""
    lease = Lease(client, "east", "one", seconds=1.0)
    await lease.hold(NOW)
    renewals = Renewals(valkey.url, [lease], alive=always, every_seconds=0.1)
    renewals.start()
    until = time.monotonic() + 3.0
    while time.monotonic() < until:  # what a computation on the loop does to it
        assert blocking.get(lease_key("east")) == lease.token.encode()
    renewals.stop()
    assert await LeaderState(client, "east", lease.token).write({"rs:x": b"1"})
    assert lease.lapses == 0


async def test_a_dead_loop_loses_its_lead_to_who_stands_by(
    client: redis.asyncio.Redis, valkey: Valkey
) -> None:
    lease, other = Lease(client, "east", "one"), Lease(client, "east", "two")
    await lease.hold(NOW)
    await client.pexpire(lease_key("east"), 100)
    renewals = Renewals(valkey.url, [lease], alive=lambda: False)
    renewals.renew_all()
    assert await client.pttl(lease_key("east")) <= 100
    await client.delete(lease_key("east"))
    assert await other.hold(NOW)
    renewals.stop()
    assert not await LeaderState(client, "east", lease.token).write({"rs:x": b"1"})


async def test_a_cache_that_is_away_and_comes_back_empty_is_borne(
    server: Valkey, caplog: pytest.LogCaptureFixture
) -> None:
    lease = Lease(own := make_async_client(server.url), "east", "one")
    await lease.hold(NOW)
    token = lease.token
    renewals = Renewals(server.url, [lease], alive=always)
    server.kill()
    renewals.renew_all()
    assert "lease not renewed" in caplog.text
    server.start()
    renewals.renew_all()
    assert not lease.fresh, "the cache has forgotten it, and says so"
    await own.connection_pool.disconnect()
    assert await lease.hold(NOW)
    assert lease.token == token
    renewals.stop()
    await own.aclose()


async def test_a_cache_that_stood_still_past_the_lease_gives_it_back(
    server: Valkey,
) -> None:
    lease = Lease(own := make_async_client(server.url), "east", "one", seconds=0.2)
    await lease.hold(NOW)
    token = lease.token
    server.signal(signal.SIGSTOP)
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        assert lease.token == token
    server.signal(signal.SIGCONT)
    assert await lease.hold(NOW)
    assert lease.token == token
    await own.aclose()


def test_a_lease_outlasts_several_renewals() -> None:
    assert LEASE_SECONDS >= 10
    assert LEASE_SECONDS / RENEW_SECONDS >= 8


async def test_a_leader_after_the_clock_was_put_back_is_another_one(
    client: redis.asyncio.Redis,
) -> None:
    ahead, other = Lease(client, "east", "one"), Lease(client, "east", "two")
    await ahead.hold(NOW + 86_400_000)
    before = fence(ahead)
    await client.flushall()
    await other.hold(NOW)
    assert fence(other) < before
    await other.release()
    token = ahead.token
    assert await ahead.hold(NOW + 5)
    assert ahead.token != token
    assert fence(ahead) > before
