"""One instance per client id and process (A5c)."""

from __future__ import annotations

import asyncio

import pytest

from rmqcore.client import ClientInstance, InstanceRegistry
from rmqcore.errors import StateError

SERVERS = ("127.0.0.1:1",)


def make() -> ClientInstance:
    return ClientInstance("c", SERVERS)


async def test_asking_again_gives_the_same_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registry = InstanceRegistry()
    first = registry.acquire("c", SERVERS, make, internal_timers=True)
    assert caplog.text == ""
    assert registry.acquire("c", SERVERS, make, internal_timers=True) is first
    assert "client=c exists already" in caplog.text
    await registry.release(first)
    assert not first.stopped
    await registry.release(first)
    assert first.stopped


async def test_other_clusters_have_their_own() -> None:
    registry = InstanceRegistry()
    one = registry.acquire("c", SERVERS, make, internal_timers=False)
    others = ("127.0.0.1:2",)
    two = registry.acquire(
        "c", others, lambda: ClientInstance("c", others), internal_timers=False
    )
    assert one is not two
    for instance in (one, two):
        await registry.release(instance)


async def test_one_that_has_stopped_is_made_anew() -> None:
    registry = InstanceRegistry()
    first = registry.acquire("c", SERVERS, make, internal_timers=True)
    await registry.release(first)
    second = registry.acquire("c", SERVERS, make, internal_timers=False)
    assert second is not first
    await registry.release(second)


async def test_another_event_loop_may_not_share() -> None:
    registry = InstanceRegistry()
    instance = registry.acquire("c", SERVERS, make, internal_timers=False)

    async def elsewhere() -> None:
        registry.acquire("c", SERVERS, make, internal_timers=False)

    with pytest.raises(StateError, match="another event loop"):
        await asyncio.to_thread(asyncio.run, elsewhere())
    await registry.release(instance)


async def test_what_a_closed_loop_left_behind_is_replaced() -> None:
    registry = InstanceRegistry()

    async def elsewhere() -> ClientInstance:
        return registry.acquire("c", SERVERS, make, internal_timers=False)

    left = await asyncio.to_thread(asyncio.run, elsewhere())
    mine = registry.acquire("c", SERVERS, make, internal_timers=False)
    assert mine is not left
    await registry.release(mine)
