from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
import redis

from dashboard.clock.ticks import FALLBACK
from dashboard.live.names import BEAT_KEY
from dashboard.models import FleetWorker, TimerRun
from dashboard.timers.reads import (
    PERIODS,
    find_runs,
    read_beat,
    read_workers,
)
from rmqcore.timers import PERIOD_S
from tests.support.valkey import Valkey

NOW = datetime(2026, 3, 1, 12, 0, 7, tzinfo=UTC)


def worker(name: str, *, seen: float = 6, since: float = 3600) -> FleetWorker:
    return FleetWorker.objects.create(
        name=name,
        host="h",
        pid=7,
        started_at=NOW - timedelta(seconds=since),
        seen_until=NOW + timedelta(seconds=seen),
    )


def run(name: str, ago: float, **values: Any) -> TimerRun:
    due = NOW - timedelta(seconds=ago)
    fields = {"timer": "heartbeat", "took_ms": 2.0, "outcome": "done"}
    fields |= {"asked_by": "beat@h", "slot": round(due.timestamp() / 30)}
    fields |= {"started": due + timedelta(milliseconds=30), **values}
    return TimerRun.objects.create(worker=name, due=due, **fields)


def test_the_periods_are_the_clients() -> None:
    assert {str(t): period for t, period in PERIOD_S.items()} == dict(PERIODS)


def pulse(valkey: Valkey, ago_ms: int) -> None:
    text = orjson.dumps(
        {"at": round(NOW.timestamp() * 1000) - ago_ms, "name": "beat@h", "pid": 9}
    )
    with redis.Redis(port=valkey.port) as client:
        client.set(BEAT_KEY, text)


@pytest.mark.parametrize(
    ("ago_ms", "state"), [(400, "alive"), (3000, "alive"), (3001, "dead")]
)
def test_beat_is_dead_after_three_missed_pulses(
    valkey: Valkey, ago_ms: int, state: str
) -> None:
    pulse(valkey, ago_ms)
    beat = read_beat(NOW)
    assert (beat.state, beat.age_ms, beat.name, beat.pid) == (
        state,
        ago_ms,
        "beat@h",
        9,
    )


def test_a_beat_that_never_was_and_a_cache_that_is_away(
    valkey: Valkey, settings: Any
) -> None:
    assert read_beat(NOW).state == "never"
    settings.ROCKETSCOPE_REDIS_URL = "redis://127.0.0.1:1/0"
    assert read_beat(NOW).state == "unknown"
    settings.ROCKETSCOPE_REDIS_URL = ""
    assert read_beat(NOW).state == "unknown"


@pytest.mark.django_db
def test_workers_are_listed_live_ones_first_with_what_they_ran() -> None:
    worker("w2")
    worker("w1", seen=-20)
    run("w0", 100)
    run("w2", 7)
    found = read_workers(NOW, 10)
    assert [(each.name, each.alive) for each in found] == [
        ("w2", True),
        ("w0", False),
        ("w1", False),
    ]
    assert found[2].gone_ms == 20_000
    assert found[1].worker is None
    rows = {row.timer: row for row in found[0].rows}
    assert list(rows) == list(PERIODS)
    assert rows["heartbeat"].last_ago_ms == 6970
    assert rows["heartbeat"].strip.missing == 19
    assert rows["expire_stuck"].strip.last is None


@pytest.mark.django_db
def test_a_worker_that_has_long_gone_is_not_listed() -> None:
    worker("w1", seen=-700)
    assert read_workers(NOW, 10) == []


@pytest.mark.django_db
def test_runs_are_found_by_worker_timer_and_trouble() -> None:
    good = run("w1", 100)
    made_up = run("w1", 70, asked_by=FALLBACK)
    failed = run("w2", 40, outcome="failed", timer="rebalance")
    assert list(find_runs()) == [failed, made_up, good]
    assert list(find_runs(worker="w1")) == [made_up, good]
    assert list(find_runs(timer="rebalance")) == [failed]
    assert list(find_runs(trouble=True)) == [failed, made_up]
    assert list(find_runs(worker="w1", trouble=True)) == [made_up]
