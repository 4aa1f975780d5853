from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import redis.asyncio

from dashboard.live.names import watch_key
from dashboard.live.state import WATCHES_KEPT_SECONDS, make_async_client
from dashboard.live.watching import WatchList
from tests.support.valkey import Valkey
from tests.support.waiting import eventually


class Now:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
async def reader(valkey: Valkey) -> AsyncIterator[redis.asyncio.Redis]:
    client = make_async_client(valkey.url)
    yield client
    await client.aclose()


async def test_a_watch_is_told_at_once(
    valkey: Valkey, reader: redis.asyncio.Redis
) -> None:
    watches = WatchList(make_async_client(valkey.url), now=Now(1000.0))
    await watches.add("east", "g")
    assert await reader.zscore(watch_key("east"), "g") == 1015.0
    assert 0 < await reader.ttl(watch_key("east")) <= WATCHES_KEPT_SECONDS
    await watches.discard("east", "g")


async def test_only_the_first_socket_of_a_group_writes(
    valkey: Valkey, reader: redis.asyncio.Redis
) -> None:
    """When a server starts, thousands of pages come back at once."""
    now = Now(1000.0)
    watches = WatchList(make_async_client(valkey.url), now=now, refresh_seconds=60)
    await watches.add("east", "g")
    now.seconds = 1001.0
    await watches.add("east", "g")
    await watches.add("east", "other")
    assert await reader.zscore(watch_key("east"), "g") == 1015.0
    assert await reader.zscore(watch_key("east"), "other") == 1016.0
    for group in ("g", "g", "other"):
        await watches.discard("east", group)


async def test_it_is_repeated_while_a_socket_is_left(
    valkey: Valkey, reader: redis.asyncio.Redis
) -> None:
    now = Now(1000.0)
    watches = WatchList(make_async_client(valkey.url), now=now, refresh_seconds=0.01)
    await watches.add("east", "g")
    await watches.add("east", "g")
    await watches.discard("east", "g")
    now.seconds = 1005.0
    await eventually(lambda: reader.zscore(watch_key("east"), "g"), 1020.0)
    await watches.discard("east", "g")


async def test_the_last_socket_lets_it_run_out(
    valkey: Valkey, reader: redis.asyncio.Redis
) -> None:
    now = Now(1000.0)
    watches = WatchList(make_async_client(valkey.url), now=now, refresh_seconds=0.01)
    await watches.add("east", "g")
    await watches.discard("east", "g")
    now.seconds = 1005.0
    await asyncio.sleep(0.05)
    assert await reader.zscore(watch_key("east"), "g") == 1015.0


async def test_a_lost_cache_is_survived(
    caplog: pytest.LogCaptureFixture,
) -> None:
    watches = WatchList(make_async_client("redis://127.0.0.1:1/0"))
    await watches.add("east", "g")
    assert "not written" in caplog.text
    await watches.discard("east", "g")
