from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator

import pytest
import redis.asyncio
from hypothesis import given
from hypothesis import strategies as st

from dashboard.collector.division import (
    CONTENT_SECONDS,
    UNTAKEN_SECONDS,
    Division,
    Leads,
)
from dashboard.collector.lease import LEASE_SECONDS, Lease
from dashboard.live.names import collectors_key, lease_key
from dashboard.live.state import make_async_client
from tests.support.valkey import Valkey

CLUSTERS = ("a", "b", "c", "d", "e")
NAMES = [f"c{number}" for number in range(6)]


@st.composite
def standings(draw: st.DrawFn) -> Leads:
    """Return any standing, also with leaders that live no more."""
    living = draw(st.frozensets(st.sampled_from(NAMES), min_size=1))
    anyone = st.sampled_from([None, *NAMES])
    clusters = [f"k{number:02}" for number in range(draw(st.integers(0, 12)))]
    return Leads(living, {each: draw(anyone) for each in clusters})


def settled(leads: Leads) -> tuple[Leads, int]:
    """Let dead leaders' leases run out and everybody act; count what is given up."""
    leaders = {
        each: who if who in leads.living else None
        for each, who in leads.leaders.items()
    }
    given_up = 0
    while True:
        leads = Leads(leads.living, leaders)
        leaders |= leads.meant()
        leads = Leads(leads.living, leaders)
        surplus = leads.surplus()
        if surplus is None:
            return leads, given_up
        assert leaders[surplus[1]] == surplus[0]
        leaders[surplus[1]] = None
        given_up += 1
        assert given_up <= len(leaders), "it flaps"


def numbers(leads: Leads) -> list[int]:
    counted = Counter(leads.leaders.values())
    return [counted[who] for who in leads.living]


@given(standings())
def test_every_cluster_comes_to_have_a_leader_with_a_fair_share(leads: Leads) -> None:
    after, _ = settled(leads)
    assert set(after.leaders.values()) <= after.living
    fair = -(-len(after.leaders) // len(after.living))
    assert all(number <= fair for number in numbers(after))
    assert max(numbers(after)) - min(numbers(after)) <= 1


@given(standings())
def test_no_more_clusters_move_than_need_to(leads: Leads) -> None:
    with_leaders = Leads(
        leads.living,
        {each: who for each, who in leads.leaders.items() if who in leads.living},
    )
    before, number = numbers(with_leaders), len(with_leaders.leaders)
    fair, beyond = divmod(number, len(before))
    shares = [fair + (place < beyond) for place in range(len(before))]
    needed = sum(
        max(0, had - share)
        for had, share in zip(sorted(before, reverse=True), shares, strict=True)
    )
    after, given_up = settled(with_leaders)
    assert given_up == needed
    assert settled(after) == (after, 0)


@given(st.integers(0, 12))
def test_the_only_collector_takes_everything_and_keeps_it(number: int) -> None:
    clusters = [f"k{each}" for each in range(number)]
    leads = Leads(frozenset({"one"}), dict.fromkeys(clusters))
    assert leads.meant() == dict.fromkeys(clusters, "one")
    assert settled(leads)[1] == 0


@given(standings())
def test_a_free_cluster_is_meant_for_exactly_one_that_lives(leads: Leads) -> None:
    free = {each for each, who in leads.leaders.items() if who is None}
    assert leads.meant().keys() == free
    assert set(leads.meant().values()) <= leads.living


@given(standings())
def test_nothing_is_given_up_while_a_cluster_is_free(leads: Leads) -> None:
    if None in leads.leaders.values():
        assert leads.surplus() is None


# Against the cache


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Member:
    """A collector's leases and its part in the division."""

    def __init__(self, client: redis.asyncio.Redis, name: str) -> None:
        self.clock = Clock()
        self.division = Division(client, name, lambda: CLUSTERS, steady=self.clock)
        self.leases = {each: Lease(client, each, name) for each in CLUSTERS}

    @property
    def leading(self) -> set[str]:
        return {each for each, lease in self.leases.items() if lease.token}

    async def tick(self) -> None:
        """Do once for each cluster what a collector does each second."""
        for each, lease in self.leases.items():
            if lease.token or await self.division.may_take(each):
                await lease.hold(1)

    async def sweep(self) -> None:
        """Do what a collector does after its sweeps."""
        for each in self.leading:
            if await self.division.gives_up(each):
                await self.leases[each].release()


@pytest.fixture
async def client(valkey: Valkey) -> AsyncIterator[redis.asyncio.Redis]:
    client = make_async_client(valkey.url)
    yield client
    await client.aclose()


async def rounds(*members: Member) -> None:
    for _ in range(len(CLUSTERS)):
        for each in members:
            await each.tick()
        for each in members:
            await each.sweep()


async def test_two_divide_and_one_takes_over_and_they_divide_again(
    client: redis.asyncio.Redis,
) -> None:
    one = Member(client, "one")
    await one.tick()
    assert one.leading == set(CLUSTERS)
    two = Member(client, "two")
    await rounds(one, two)
    assert sorted(map(len, (one.leading, two.leading))) == [2, 3]
    for lease in one.leases.values():
        await lease.release()
    await one.division.leave()
    await two.tick()
    assert two.leading == set(CLUSTERS)
    again = Member(client, "one")
    await rounds(again, two)
    assert sorted(map(len, (again.leading, two.leading))) == [2, 3]
    assert again.leading | two.leading == set(CLUSTERS)


async def test_what_a_dead_collector_led_is_taken_when_its_leases_end(
    client: redis.asyncio.Redis,
) -> None:
    one, two = Member(client, "one"), Member(client, "two")
    await one.tick()
    await rounds(one, two)
    left = await client.zscore(collectors_key(), "one")
    assert left is not None
    for each in one.leading:
        assert await client.pttl(lease_key(each)) <= LEASE_SECONDS * 1000
        await client.delete(lease_key(each))
    await client.zrem(collectors_key(), "one")  # after 5 s; a lease has 15
    await two.tick()
    assert two.leading == set(CLUSTERS)


async def test_what_is_meant_for_one_that_takes_nothing_is_taken_and_kept(
    client: redis.asyncio.Redis,
) -> None:
    idle, one = Member(client, "a-idle"), Member(client, "one")
    await idle.division.may_take("a")
    await one.tick()
    assert one.leading == {"b", "d"}
    one.clock.now += UNTAKEN_SECONDS
    await one.tick()
    assert one.leading == set(CLUSTERS)
    await idle.division.may_take("a")
    await one.sweep()
    assert one.leading == set(CLUSTERS), "it would only come back"
    one.clock.now += CONTENT_SECONDS
    await one.sweep()
    assert len(one.leading) == len(CLUSTERS) - 1


async def test_a_word_from_before_the_clock_was_put_back_does_not_count(
    client: redis.asyncio.Redis,
) -> None:
    await client.zadd(collectors_key(), {"ahead": 1e15, "long-dead": 1})
    one = Member(client, "one")
    await one.tick()
    assert one.leading == set(CLUSTERS)
    assert await client.zrange(collectors_key(), 0, -1) == [b"one"]
