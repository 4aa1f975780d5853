"""Routes of a real name server, and none of those that are down."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from rmqcore.cluster import LocalCluster
from rmqcore.errors import ConnectError
from rmqcore.transport import ChannelPool, NameServers

NOBODY = "127.0.0.1:1"


@pytest.fixture
async def pool() -> AsyncIterator[ChannelPool]:
    made = ChannelPool()
    yield made
    await made.close()


async def test_a_route_is_found(cluster: LocalCluster, pool: ChannelPool) -> None:
    servers = NameServers([cluster.nameserver_address], pool)
    route = await servers.route("T")
    assert route is not None
    assert len(route.subscribe_queues("T")) == 4


async def test_a_topic_that_does_not_exist_has_none(
    cluster: LocalCluster, pool: ChannelPool
) -> None:
    servers = NameServers([cluster.nameserver_address], pool)
    assert await servers.route("unknown") is None


@pytest.mark.parametrize("first", range(2))
async def test_one_that_is_down_is_passed_over_and_left(
    cluster: LocalCluster,
    pool: ChannelPool,
    first: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    servers = NameServers([NOBODY, cluster.nameserver_address], pool, first=first)
    assert await servers.route("T")
    caplog.clear()
    assert await servers.route("T")
    assert "did not answer" not in caplog.text


async def test_when_all_are_down_each_is_named(pool: ChannelPool) -> None:
    servers = NameServers([NOBODY, "127.0.0.1:2"], pool)
    with pytest.raises(ConnectError) as refused:
        await servers.route("T")
    assert NOBODY in str(refused.value)
    assert "127.0.0.1:2" in str(refused.value)
