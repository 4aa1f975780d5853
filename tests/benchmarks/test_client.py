"""The benchmark of clients at a small size: that it runs, not how fast."""

from __future__ import annotations

import pytest

from benchmarks.client import TOPIC, Measured, compare, run
from rmqcore.cluster import LocalCluster


@pytest.mark.embedded
async def test_every_way_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    async with LocalCluster() as cluster:
        await cluster.create_topic(TOPIC, 2)
        measured = await run(cluster.nameserver_address, 128, 16)
    assert [each.messages for each in measured] == [2, 32, 128, 162, 162, 162]
    assert all(each.rate > 0 and each.cpu_us > 0 for each in measured)
    assert len(capsys.readouterr().out.splitlines()) == 6


def test_each_of_our_lines_stands_beside_javas() -> None:
    ours = [
        Measured("send, asynchronous", 100, 1.0, 0.01),
        Measured("consume, coroutine listener", 300, 1.0, 0.01),
        Measured("consume, plain, in threads", 100, 1.0, 0.01),
    ]
    theirs = [
        Measured("send, asynchronous", 200, 1.0, 0.01),
        Measured("consume", 200, 1.0, 0.01),
    ]
    lines = compare(ours, {each.name: each for each in theirs}).splitlines()
    assert [line[-12:] for line in lines if "of Java" in line] == [
        "0.50 of Java",
        "1.50 of Java",
        "0.50 of Java",
    ]
