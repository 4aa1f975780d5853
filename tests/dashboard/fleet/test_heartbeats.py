from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import redis.asyncio

from dashboard.fleet.heartbeats import HEARTBEAT_SECONDS, Heartbeats
from dashboard.live.names import heartbeats_key
from dashboard.live.state import make_async_client
from tests.support.valkey import Valkey


@pytest.fixture
async def client(valkey: Valkey) -> AsyncIterator[redis.asyncio.Redis]:
    client = make_async_client(valkey.url)
    yield client
    await client.aclose()


def beats(client: redis.asyncio.Redis, worker: str = "w1") -> Heartbeats:
    return Heartbeats(client, worker, lambda: 1000.0)


async def test_each_hears_of_all_that_live(client: redis.asyncio.Redis) -> None:
    await beats(client, "w1").beat()
    found = await beats(client, "w2").beat()
    assert found is not None
    assert found.alive == {"w1", "w2"}
    assert (found.asked, found.until) == (1000.0, 1000.0 + HEARTBEAT_SECONDS)


async def test_the_first_word_and_one_after_a_silence_give_no_right(
    client: redis.asyncio.Redis,
) -> None:
    worker = beats(client)
    unbroken = []
    for silent in (False, False, True, False):
        if silent:
            await client.zadd(heartbeats_key(), {"w1": 1})
        found = await worker.beat()
        assert found is not None
        unbroken.append(found.unbroken)
    assert unbroken == [False, True, False, True]


async def test_words_that_ran_out_are_not_heard(client: redis.asyncio.Redis) -> None:
    await client.zadd(heartbeats_key(), {"dead": 1})
    found = await beats(client).beat()
    assert found is not None
    assert found.alive == {"w1"}


async def test_a_clock_set_back_keeps_no_dead_worker_alive(
    client: redis.asyncio.Redis,
) -> None:
    await client.zadd(heartbeats_key(), {"dead": 1e15})
    found = await beats(client).beat()
    assert found is not None
    assert found.alive == {"w1"}


async def test_who_leaves_is_not_heard_any_more(client: redis.asyncio.Redis) -> None:
    leaving = beats(client, "w2")
    await leaving.beat()
    await leaving.end()
    found = await beats(client).beat()
    assert found is not None
    assert found.alive == {"w1"}


async def test_a_cache_that_is_away_is_no_error() -> None:
    client = make_async_client("redis://127.0.0.1:1/0")
    worker = beats(client)
    assert await worker.beat() is None
    await worker.end()
    await client.aclose()
