"""The snapshot benchmark at a small size: that it runs, not how fast."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.snapshot import FAULTS, SETTINGS, Size, measure, seed
from tests.support.apache import start_cluster

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
