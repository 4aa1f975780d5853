"""Thread stacks of a real member, asked for on an embedded cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from dashboard.clients.asking import ClientBusyError, kept_stacks, take_stacks
from dashboard.live.names import asked_key
from dashboard.live.state import live_state
from rmqcore.cluster import LocalCluster
from rmqcore.errors import RmqError
from tests.support.cluster import join, local_cluster, settings_of
from tests.support.valkey import Valkey

GROUP = "billing"
ID = "10.0.0.1@one"


@pytest.fixture
async def cluster(valkey: Valkey, settings: Any) -> AsyncIterator[LocalCluster]:
    async with local_cluster(4) as running:
        settings.ROCKETSCOPE_CLUSTERS = {"east": settings_of(running)}
        member = await join(running, "one")
        yield running
        await member.shutdown()


async def test_stacks_are_kept_under_a_token(cluster: LocalCluster) -> None:
    token = await asyncio.to_thread(take_stacks, "east", GROUP, ID)
    stacks = kept_stacks("east", ID, token)
    assert stacks is not None
    assert "test_stacks_are_kept_under_a_token" in stacks.text
    assert not stacks.cut
    assert kept_stacks("east", "10.0.0.1@two", token) is None
    assert kept_stacks("east", ID, "another") is None


async def test_a_client_is_asked_by_one_at_a_time(cluster: LocalCluster) -> None:
    key = asked_key("east", ID)
    live_state().client.set(key, "somebody")
    with pytest.raises(ClientBusyError, match="being asked"):
        await asyncio.to_thread(take_stacks, "east", GROUP, ID)
    live_state().client.delete(key)
    await asyncio.to_thread(take_stacks, "east", GROUP, ID)
    assert live_state().client.get(key) is None


async def test_a_client_that_is_not_there_frees_its_place(
    cluster: LocalCluster,
) -> None:
    with pytest.raises(RmqError):
        await asyncio.to_thread(take_stacks, "east", GROUP, "10.0.0.1@gone")
    assert live_state().client.get(asked_key("east", "10.0.0.1@gone")) is None
