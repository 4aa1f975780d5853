from __future__ import annotations

from collections.abc import AsyncIterator

import orjson
import pytest
import redis.asyncio

from dashboard.live.names import (
    group_key,
    lease_key,
    overview_key,
    scraped_key,
    watch_key,
)
from dashboard.live.state import (
    WATCHES_KEPT_SECONDS,
    LeaderState,
    live_state,
    make_async_client,
)
from tests.support.valkey import Valkey


@pytest.fixture
async def client(valkey: Valkey) -> AsyncIterator[redis.asyncio.Redis]:
    client = make_async_client(valkey.url)
    yield client
    await client.aclose()


async def test_documents_written_by_the_leader_are_read(
    client: redis.asyncio.Redis,
) -> None:
    await client.set(lease_key("east"), "me")
    leader = LeaderState(client, "east", "me")
    assert await leader.write(
        {
            overview_key("east"): orjson.dumps({"cluster": "east"}),
            group_key("east", "g"): orjson.dumps({"group": "g"}),
        }
    )
    assert live_state().overview("east") == {"cluster": "east"}
    assert live_state().group("east", "g") == {"group": "g"}
    assert 0 < await client.ttl(group_key("east", "g")) <= 24 * 3600


async def test_who_lost_the_lead_writes_and_deletes_nothing(
    client: redis.asyncio.Redis,
) -> None:
    await client.set(lease_key("east"), "other")
    await client.set(group_key("east", "g"), b'{"group": "g"}')
    leader = LeaderState(client, "east", "me")
    assert not await leader.write({group_key("east", "g"): b"{}"})
    assert not await leader.delete([group_key("east", "g")])
    assert live_state().group("east", "g") == {"group": "g"}


async def test_the_leader_removes_groups_that_are_gone(
    client: redis.asyncio.Redis,
) -> None:
    await client.set(lease_key("east"), "me")
    leader = LeaderState(client, "east", "me")
    await leader.write({group_key("east", "g"): b"{}"})
    assert await leader.delete([group_key("east", "g")])
    assert live_state().group("east", "g") is None


async def test_nothing_to_do_needs_no_lease(client: redis.asyncio.Redis) -> None:
    leader = LeaderState(client, "east", "me")
    assert await leader.write({})
    assert await leader.delete([])


async def test_watches_run_out(client: redis.asyncio.Redis) -> None:
    state = live_state()
    state.watch("east", "early", 1000.0)
    state.watch("east", "late", 1010.0)
    leader = LeaderState(client, "east", "me")
    assert await leader.watched(1015.0) == {"early": 1015.0, "late": 1025.0}
    assert await leader.watched(1015.5) == {"late": 1025.0}
    assert await client.zcard(watch_key("east")) == 1


async def test_wanted_documents_are_so_for_a_while(
    client: redis.asyncio.Redis,
) -> None:
    state = live_state()
    state.want_documents("east", [], 1000.0)
    state.want_documents("east", ["early", "late"], 1000.0)
    state.want_documents("east", ["late"], 1010.0)
    leader = LeaderState(client, "east", "me")
    assert await leader.scraped(1300.0) == {"early", "late"}
    assert await leader.scraped(1300.5) == {"late"}
    assert await client.ttl(scraped_key("east")) > 200


async def test_watches_go_even_when_no_collector_runs(
    client: redis.asyncio.Redis,
) -> None:
    live_state().watch("east", "g", 1000.0)
    assert 0 < await client.ttl(watch_key("east")) <= WATCHES_KEPT_SECONDS


def test_what_was_never_collected_is_none(valkey: Valkey) -> None:
    state = live_state()
    assert state.overview("east") is None
    assert state.group("east", "g") is None
