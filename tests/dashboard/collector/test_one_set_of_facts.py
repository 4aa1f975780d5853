"""A sweep and a look never mix, and one group that is strange costs no other."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import replace

import pytest

from dashboard.live.state import live_state
from rmqcore.model.columns import Column
from rmqcore.model.snapshot import ClusterSnapshot, GroupSnapshot

from .sights import group, keys, member, table
from .test_cluster_collector import Make, Seen, client, divided, make, shown

__all__ = ["client", "make"]

pytestmark = pytest.mark.django_db(transaction=True)


class Shrinking(Seen):
    """A source whose topic has lost half of its queues when members are asked."""

    async def groups(self, names: Collection[str]) -> ClusterSnapshot:
        half = keys(2)
        members = [member("c1", half)]
        self.groups_now = (group(table(half), members, expected=["c1", "c1"]),)
        return await super().groups(names)


def broken(name: str) -> GroupSnapshot:
    """A group whose columns do not agree on how many queues there are."""
    seen = divided("c1", name=name)
    return replace(seen, queues=replace(seen.queues, committed=Column.of([1])))


async def test_queues_that_change_between_sweep_and_look_cost_no_sample(
    make: Make,
) -> None:
    collector = make(Shrinking(divided("c1")))
    for _ in range(2):
        await collector.sweep_all()
    assert (collector.figures.failed, collector.figures.sweeps) == (0, 2)
    assert collector.keeper.pending_rows > 0
    assert len(shown()["queues"]) == 2


async def test_a_group_that_cannot_be_judged_costs_the_others_nothing(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    source = Seen(divided("c1", name="g"), divided("c1", name="sound"))
    collector = make(source)
    await collector.sweep_all()
    source.groups_now = (broken("g"), divided("c1", "c2", name="sound"))
    caplog.set_level(logging.ERROR)
    for _ in range(3):
        await collector.sweep_all()
    assert (collector.figures.failed, collector.figures.sweeps) == (0, 4)
    assert len(shown("sound")["members"]) == 2
    # What was shown of it stays, and says that it is our fault.
    assert len(shown("g")["queues"]) == 4
    fault = shown("g").get("fault")
    assert fault is not None
    told = [each for each in caplog.records if "cannot be judged" in each.message]
    assert len(told) == 1
    assert "'g'" in told[0].message
    overview = live_state().overview("east")
    assert overview is not None
    faults = {row["group"]: row.get("fault") for row in overview["groups"]}
    assert faults == {"g": fault, "sound": None}
    # It is looked at again, and well again.
    source.groups_now = (divided("c1", name="g"),)
    await collector.sweep_all()
    assert shown("g").get("fault") is None


async def test_a_group_that_could_never_be_judged_is_in_the_list(make: Make) -> None:
    collector = make(Seen(broken("g")))
    await collector.sweep_all()
    overview = live_state().overview("east")
    assert overview is not None
    (row,) = overview["groups"]
    assert (row["lag"], row["members"], row.get("complete")) == (None, None, False)
    assert row["status"]["level"] == "unk"
