"""When a cluster is swept before its tick.

`test_cluster_collector` has the same with whole sweeps.
"""

from __future__ import annotations

import asyncio

import pytest

from dashboard.collector import early_sweeps
from dashboard.collector.early_sweeps import EarlySweeps
from tests.support.waiting import until_seen


class Cluster:
    """A cluster that is swept when `gate` is open, and then lists what was found."""

    def __init__(self, *hidden: str) -> None:
        self.found: set[str] = set()
        self.listed: set[str] = set()
        self.hidden = set(hidden)
        self.began = self.ended = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.early = EarlySweeps(self.sweep, self.lacking)

    async def sweep(self) -> None:
        self.began += 1
        found = self.found - self.hidden
        await self.gate.wait()
        self.ended += 1
        self.listed |= found
        self.early.check(0)

    def lacking(self) -> set[str] | None:
        if self.began > self.ended:
            return None
        return self.found - self.listed or None

    def find(self, name: str) -> None:
        self.found.add(name)
        self.early.check(0)

    async def sweeps(self, number: int) -> None:
        async def ended() -> int:
            return self.ended

        await until_seen(ended, lambda count: count == number)


@pytest.fixture(autouse=True)
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_sweeps, "REST_SECONDS", 0.0)


async def test_what_is_found_during_a_slow_sweep_is_swept_for_after_it() -> None:
    cluster = Cluster()
    cluster.gate.clear()
    cluster.find("first")
    slow = cluster.early.under_way
    await asyncio.sleep(0)
    for name in "second", "third":
        cluster.find(name)
        await asyncio.sleep(0.01)
    assert (cluster.began, cluster.early.under_way) == (1, slow)
    cluster.gate.set()
    await cluster.sweeps(2)
    assert cluster.listed == {"first", "second", "third"}
    assert cluster.early.under_way is None


async def test_a_group_that_sweeps_do_not_see_is_swept_for_once_a_tick() -> None:
    cluster = Cluster("hidden")
    cluster.find("hidden")
    await cluster.sweeps(1)
    cluster.find("hidden")
    await asyncio.sleep(0.02)
    assert cluster.began == 1
    cluster.early.begin_anew()
    cluster.find("hidden")
    await cluster.sweeps(2)


async def test_none_begins_after_the_end() -> None:
    cluster = Cluster()
    cluster.find("first")
    await cluster.sweeps(1)
    cluster.find("second")
    await cluster.early.close()
    await asyncio.sleep(0.02)
    assert cluster.began == 1
