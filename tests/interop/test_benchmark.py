"""Benchmarks beside Java at a small size: that they run, not how fast."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from benchmarks import client
from benchmarks.churn import Spec, report, run_java
from benchmarks.snapshot import FAULTS, SETTINGS, Size, measure, seed
from rmqcore.admin import Admin
from tests.support.apache import ApacheCluster, start_cluster

pytestmark = pytest.mark.interop


async def test_the_benchmark_measures_every_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = Size(topics=20, queues=4, groups=30, messages=2)
    with start_cluster(tmp_path, settings=SETTINGS, seed=seed(size)) as cluster:
        await measure(cluster, size, repeat=1)
    lines = capsys.readouterr().out.splitlines()
    assert "20 topics × 4 queues, 30 groups, 240 offsets" in lines[0]
    assert len(lines) == 4 + 2 * len(FAULTS)
    assert all(" ms" in line for line in lines[1:])


async def test_java_clients_are_measured_like_ours(
    apache: ApacheCluster, admin: Admin, tmp_path: Path
) -> None:
    for topic in (client.TOPIC, client.OTHER_TOPIC):
        await admin.create_topic(topic, 2)
    sent = await client.send_all(apache.nameserver, 64, 16)
    theirs = await asyncio.to_thread(
        client.run_java,
        apache.nameserver,
        tmp_path,
        total=sum(each.messages for each in sent),
        count=64,
        size=16,
    )
    assert list(theirs) == [*(each.name for each in sent), "consume"]
    assert all(each.rate > 0 for each in theirs.values())
    # The kernel counts in hundredths of a second: one way alone may take less.
    assert sum(each.cpu_us for each in theirs.values()) > 0


def test_a_java_group_goes_through_the_same_churn(tmp_path: Path) -> None:
    result = run_java(Spec(members=4, queues=16, seconds=2, seed=3), tmp_path)
    assert result.all_rested
    assert result.ownership.moves > 0
    assert "rests that came" in report([result])
