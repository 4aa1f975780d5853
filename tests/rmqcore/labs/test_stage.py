"""Labs on a cluster that runs for others, and what they wait for in vain."""

from pathlib import Path

import pytest

from rmqcore.admin import Admin
from rmqcore.cluster import LocalCluster
from rmqcore.errors import ArgumentError, ConnectError, LabError
from rmqcore.labs import Step, lab_named
from rmqcore.labs import stage as stage_module
from rmqcore.labs.stage import Stage
from rmqcore.labs.steps import ignore
from rmqcore.transport import SystemClock


async def lab_topics(cluster: LocalCluster) -> list[str]:
    async with Admin(cluster.nameserver_address) as admin:
        return [name for name in await admin.topic_names() if "LAB_F1" in name]


async def test_a_lab_cleans_up_the_cluster_it_was_given() -> None:
    async with LocalCluster() as cluster:
        address = cluster.nameserver_address
        assert (await lab_named("F1").run(nameservers=address)).seen
        assert await lab_topics(cluster) == []
        async with Admin(address) as admin:
            assert not [g for g in await admin.group_configs() if "LAB_F1" in g]


async def test_a_lab_may_leave_its_topics_and_runs_do_not_meet() -> None:
    async with LocalCluster(brokers=2) as cluster:
        address = cluster.nameserver_address
        for _ in range(2):
            result = await lab_named("F1").run(nameservers=address, clean_up=False)
            assert result.seen
            assert result.evidence.progress[-1].end == 10
        topics = await lab_topics(cluster)
        assert len([name for name in topics if name.startswith("LAB_F1")]) == 2


async def test_a_cluster_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ConnectError):
        await lab_named("F1").run(nameservers="127.0.0.1:1")


async def test_what_does_not_come_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage_module, "PATIENCE_S", 0.05)
    stage = Stage(
        "F0",
        {},
        "127.0.0.1:1",
        clock=SystemClock(),
        pace=1.0,
        directory=tmp_path,
        observer=ignore,
    )
    with pytest.raises(
        LabError, match=r"lab F0: waited .* without success for a miracle"
    ):
        await stage.until(lambda: False, "a miracle")
    await stage.close(clean_up=False)


async def test_it_stays_at_each_division_for_who_watches() -> None:
    steps: list[Step] = []
    lab = lab_named("F1")
    result = await lab.run(observer=steps.append, linger_s=0.3)
    assert result.seen
    division, after = (
        next(step for step in steps if step.key == key) for key in ("division", "sent")
    )
    assert after.at_ms - division.at_ms >= 300


@pytest.mark.parametrize("seconds", [-1, 30.5, float("nan")])
async def test_a_stay_out_of_range_is_named(seconds: float) -> None:
    with pytest.raises(ArgumentError, match=f"linger_s is {seconds:g}, allowed 0 to 3"):
        await lab_named("F1").run(linger_s=seconds)
