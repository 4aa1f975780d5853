"""The churn run at a small size: at rest every queue has exactly one owner."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.churn import LEAST_SHARE, Spec, queues_of, report, run_python, schedule

SMALL = Spec(members=8, queues=64, seconds=8, seed=7)


def test_a_schedule_is_made_by_its_seed() -> None:
    spec = Spec(members=10, queues=8, seconds=60, seed=3)
    assert schedule(spec) == schedule(spec)
    assert schedule(spec) != schedule(Spec(10, 8, 60, seed=4))


@pytest.mark.parametrize("seed", range(5))
def test_only_those_leave_who_are_there(seed: int) -> None:
    spec = Spec(members=6, queues=8, seconds=100, seed=seed, mean_gap_s=0.2)
    present: Counter[str] = Counter()
    for burst in schedule(spec):
        for step in burst:
            assert present[step.member] == (not step.joins)
            present[step.member] += 1 if step.joins else -1
            assert step.joins or present.total() >= spec.members * LEAST_SHARE - 1


def test_queues_are_spread_over_the_brokers() -> None:
    brokers = Counter(queue.broker_name for queue in queues_of(SMALL))
    assert brokers == {"broker-a": 32, "broker-b": 32}


@pytest.mark.embedded
def test_a_group_comes_to_rest_after_every_burst(tmp_path: Path) -> None:
    result = run_python(SMALL, tmp_path)
    assert result.steps > 2 * SMALL.members
    assert result.all_rested
    assert result.ownership.moves > SMALL.queues
    lines = report([result]).splitlines()
    assert any(line.startswith("owned twice, longest") for line in lines)
    assert any("2 of 2" in line or "1 of 1" in line for line in lines)
