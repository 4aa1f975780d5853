from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dashboard.collector.status import Figures, status_of, worst_of
from rmqcore.model.snapshot import GroupKind

CALM = Figures(
    kind=GroupKind.OWNED,
    members=3,
    unowned=0,
    lag=10,
    oldest_ms=500,
    rate_in=100.0,
    rate_out=100.0,
)


@pytest.mark.parametrize(
    ("changes", "level", "word"),
    [
        ({}, "ok", "healthy"),
        ({"lag": 0}, "ok", "healthy"),
        ({"kind": GroupKind.BROADCASTING}, "unk", "not_measured"),
        ({"kind": GroupKind.MIXED, "unowned": 3}, "unk", "not_measured"),
        ({"kind": GroupKind.OFFLINE, "members": 0}, "unk", "no_members"),
        ({"unowned": 1}, "crit", "no_owner"),
        ({"unowned": 1, "lag": None}, "crit", "no_owner"),
        ({"unowned": 1, "kind": GroupKind.SHARED_POP}, "ok", "healthy"),
        ({"lag": None}, "unk", "unknown"),
        ({"complete": False}, "unk", "unknown"),
        ({"complete": False, "members": 0}, "unk", "unknown"),
        # Whether it stands still or falls behind is judged by the rules of findings.
        ({"lag": 5000, "rate_in": 200.0}, "ok", "healthy"),
        ({"oldest_ms": 60_000, "rate_in": 200.0}, "ok", "healthy"),
        ({"lag": 5000, "rate_out": 200.0}, "ok", "catching_up"),
        ({"lag": 5000, "rate_in": 104.0}, "ok", "healthy"),
        ({"lag": 5000, "rate_in": None}, "unk", "unknown"),
        # 1 message against 5 is not an alarm.
        ({"lag": 5, "rate_in": 5.0, "rate_out": 1.0}, "ok", "healthy"),
        ({"lag": 5000, "rate_in": 1.5, "rate_out": 0.6}, "ok", "healthy"),
    ],
)
def test_the_first_rule_that_holds_gives_the_word(
    changes: dict[str, Any], level: str, word: str
) -> None:
    assert status_of(replace(CALM, **changes)) == {"level": level, "word": word}


def finding(key: str, level: str) -> Any:
    return {"key": key, "level": level}


@pytest.mark.parametrize(
    ("status", "findings", "level", "word"),
    [
        ("ok", [], "ok", "healthy"),
        ("ok", [("idle_members", "info")], "ok", "healthy"),
        ("ok", [("retries", "warn"), ("broadcasting", "info")], "warn", "retries"),
        ("warn", [("stalled", "crit")], "crit", "stalled"),
        ("warn", [("retries", "warn")], "warn", "healthy"),
        ("crit", [("stalled", "crit")], "crit", "healthy"),
        ("unk", [("gone", "crit")], "crit", "gone"),
        ("unk", [("flapping", "warn")], "warn", "flapping"),
        ("ok", [("losing_ground", "warn")], "warn", "falling_behind"),
        ("ok", [("unowned_queues", "crit")], "crit", "no_owner"),
    ],
)
def test_the_worst_finding_is_the_state_where_figures_look_better(
    status: Any, findings: list[tuple[str, str]], level: str, word: str
) -> None:
    shown = worst_of(
        {"level": status, "word": "healthy"}, [finding(*each) for each in findings]
    )
    assert shown == {"level": level, "word": word}
