"""The wall clock jumps by a day, for all workers of a host at once."""

from __future__ import annotations

import pytest

from dashboard.fleet.claims import CLAIM_SECONDS
from dashboard.fleet.host import FleetHost
from dashboard.live.names import heartbeats_key
from dashboard.models import FleetWorker, ManagedMember, TimerRun
from rmqcore.timers import PERIOD_S, Timer
from tests.dashboard.fleet.test_host import (
    Make,
    Now,
    client,
    cluster,
    followed,
    in_thread,
    make,
    tick,
)
from tests.dashboard.fleet.wishes import group

__all__ = ["client", "cluster", "make"]

pytestmark = pytest.mark.django_db(transaction=True)

DAY = 86_400.0
JUMPS = pytest.mark.parametrize("jump", [DAY, -DAY], ids=["forward", "back"])


class Clocks:
    """The wall clock and the steady one of a host."""

    def __init__(self) -> None:
        self.now = Now()
        self.steady = Now()

    def pass_seconds(self, seconds: float) -> None:
        self.now.ahead += seconds
        self.steady.ahead += seconds


async def two_workers(make: Make) -> tuple[Clocks, FleetHost, FleetHost]:
    """Return two workers of one host; the first hosts the group's member."""
    await in_thread(group)
    clocks = Clocks()
    host = make("w1", clocks.now, clocks.steady)
    other = make("w2", clocks.now, clocks.steady)
    await other.say_alive()
    await followed(host, [16])
    return clocks, host, other


@JUMPS
async def test_a_jump_ends_no_member_and_moves_none(make: Make, jump: float) -> None:
    clocks, host, other = await two_workers(make)
    clocks.now.ahead += jump
    for _second in range(round(CLAIM_SECONDS) + 5):
        # The cache of the same host forgets all words when its clock jumps, too.
        await host._heartbeats._client.delete(heartbeats_key())
        await other.follow_once()
        host.look_at_claims()
        await host.follow_once()
        assert [each.claim.fence for each in host.hosted.values()] == [1]
        assert other.hosted == {}
        clocks.pass_seconds(1)


@JUMPS
async def test_members_of_a_dead_worker_do_not_wait_for_a_day(
    make: Make, jump: float
) -> None:
    clocks, host, other = await two_workers(make)
    await host._heartbeats.end()
    clocks.now.ahead += jump
    for _second in range(round(CLAIM_SECONDS) + 2):
        await other.follow_once()
        clocks.pass_seconds(1)
    assert [each.claim.fence for each in other.hosted.values()] == [2]
    assert [each.name async for each in FleetWorker.objects.all()] == ["w2"]
    host.look_at_claims()
    assert host.hosted == {}, "it was frozen for longer than its right lasts"


@JUMPS
async def test_a_right_lasts_no_longer_than_before(make: Make, jump: float) -> None:
    clocks, host, _other = await two_workers(make)
    clocks.now.ahead += jump
    await host.follow_once()
    (member,) = host.hosted.values()
    assert member.may_act
    row = await ManagedMember.objects.aget()
    assert row.claimed_until is not None
    assert abs(row.claimed_until.timestamp() - clocks.now() - CLAIM_SECONDS) < 5
    clocks.pass_seconds(CLAIM_SECONDS + 1)
    assert not member.may_act


@JUMPS
async def test_runs_of_timers_are_kept_and_written_on(make: Make, jump: float) -> None:
    clocks, host, _other = await two_workers(make)
    for number, step in enumerate([0.0, jump], 1):
        clocks.now.ahead += step
        clocks.pass_seconds(3600 + PERIOD_S[Timer.PERSIST_OFFSETS])
        slot = tick(Timer.PERSIST_OFFSETS, clocks.now())
        host.take(slot)
        await host._timers[slot.timer]
        await host.follow_once()
        assert await TimerRun.objects.acount() == number
