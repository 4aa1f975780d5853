"""The campaign of kills at a small size, by a clock fifteen times as fast."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.orderly_kills import Spec, report, run


@pytest.mark.embedded
def test_order_per_key_survives_dead_lock_holders(tmp_path: Path) -> None:
    outcome = run(Spec(members=3, kills=3, queues=8, pace=15, seed=2), tmp_path)
    assert outcome.sent > 0
    assert outcome.failed == 0
    assert len(outcome.killed_holding) == 3
    assert all(outcome.killed_holding)
    assert outcome.judgement.lost == []
    assert outcome.judgement.broken == []
    assert "order per key broken" in report(outcome)
