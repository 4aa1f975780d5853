from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import redis.asyncio

from dashboard.live import hearing
from dashboard.live.hearing import hear
from dashboard.live.state import make_async_client
from tests.support.valkey import Valkey


async def publish_until_heard(
    client: redis.asyncio.Redis, channel: str, data: bytes
) -> None:
    async with asyncio.timeout(60):
        while not await client.publish(channel, data):
            await asyncio.sleep(0.02)


@pytest.fixture
async def client(valkey: Valkey) -> AsyncIterator[redis.asyncio.Redis]:
    client = make_async_client(valkey.url)
    yield client
    await client.aclose()


async def test_hears_what_is_published(client: redis.asyncio.Redis) -> None:
    heard = hear(client, "one", "two")
    first = asyncio.ensure_future(anext(heard))
    await publish_until_heard(client, "two", b"hello")
    assert await first == ("two", b"hello")
    second = asyncio.ensure_future(anext(heard))
    await publish_until_heard(client, "one", b"again")
    assert await second == ("one", b"again")
    await heard.aclose()  # type: ignore[attr-defined]


async def test_goes_on_after_the_cache_was_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "RECONNECT_SECONDS", 0.05)
    server = Valkey(tmp_path)
    server.start()
    client = make_async_client(server.url)
    heard = hear(client, "one")
    message = asyncio.ensure_future(anext(heard))
    await publish_until_heard(client, "one", b"before")
    assert await message == ("one", b"before")
    message = asyncio.ensure_future(anext(heard))
    server.kill()
    server.start()
    other = make_async_client(server.url)
    # While the client reconnects, who counts as a subscriber may not listen yet.
    async with asyncio.timeout(60):
        while not message.done():
            await other.publish("one", b"after")
            await asyncio.sleep(0.02)
    assert await message == ("one", b"after")
    await heard.aclose()  # type: ignore[attr-defined]
    await client.aclose()
    await other.aclose()
    server.kill()
