"""The benchmark of delivery at a small size: that it measures, not how fast."""

from __future__ import annotations

import pytest

from benchmarks.client import TOPIC
from benchmarks.delivery import Delays, measure
from rmqcore.cluster import LocalCluster


@pytest.mark.embedded
async def test_every_message_is_timed() -> None:
    async with LocalCluster() as cluster:
        await cluster.create_topic(TOPIC, 2)
        delays = await measure("embedded", cluster.nameserver_address, 40, 400.0)
    assert len(delays.seconds) == 36
    assert 0 < delays.share(0.5) <= delays.share(0.99) <= delays.seconds[-1]


def test_a_line_has_shares_and_the_ratio_of_medians() -> None:
    ours = Delays("embedded", tuple(n / 1000 for n in range(1, 101)))
    theirs = Delays("apache", tuple(n / 500 for n in range(1, 101)))
    assert ours.line(theirs) == (
        "embedded  median  51.00 ms   95 %  96.00   99 % 100.00   longest 100.00"
        "   median by apache's 0.50"
    )
