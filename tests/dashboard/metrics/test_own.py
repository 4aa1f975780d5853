from __future__ import annotations

import time
from typing import Any

import orjson
from django.test import Client

from analytics.lake.retention import GivenUp
from dashboard.jobs.unread import note_given_up
from dashboard.live.names import BEAT_KEY, metrics_key
from dashboard.live.state import live_state
from tests.dashboard.conftest import Write
from tests.dashboard.documents import overview

from .scrape import values

FIGURES = {
    "sweeps": 7,
    "skipped": 1,
    "failed": 0,
    "leads": 1,
    "leading": 1,
    "groups": 5,
    "watched": 2,
    "watched_beyond": 0,
    "sweep_ms": 12,
    "watched_ms": 3,
    "pending_rows": 4,
    "lake_failing": 0,
    "dropped_rows": 0,
    "refused": 1,
    "lapses": 3,
}
TIMING = {"late_ms": 6200, "missed": 9, "loop_held_ms": 4100}


def test_gives_figures_of_clusters_and_collectors(write: Write) -> None:
    write(overview())
    client = live_state().client
    told = {"role": "collector", "clusters": {"hangzhou": FIGURES}, "worker": TIMING}
    client.set(metrics_key("c1@host"), orjson.dumps(told))
    client.set(BEAT_KEY, orjson.dumps({"at": round(time.time() * 1000) - 2000}))
    note_given_up([GivenUp("hangzhou", 37, 0, 1)], 2)
    answer = Client().get("/metrics")
    found = values(answer.content.decode())
    assert found["rocketscope_cache_up"] == 1
    assert found["rocketscope_collector_sweeps_total|hangzhou|c1@host"] == 7
    assert found["rocketscope_collector_pending_rows|hangzhou|c1@host"] == 4
    assert 2 <= found["rocketscope_beat_pulse_age_seconds"] < 10
    assert found["rocketscope_collector_lapses_total|hangzhou|c1@host"] == 3
    assert found["rocketscope_collector_missed_total|c1@host"] == 9
    assert found["rocketscope_collector_late_seconds|c1@host"] == 6.2
    assert found["rocketscope_collector_loop_held_seconds|c1@host"] == 4.1
    totals = overview()["totals"]
    assert found["rocketscope_lag_messages|hangzhou"] == totals["lag"]
    assert found["rocketscope_groups|hangzhou|crit"] == totals["by_level"]["crit"]
    assert found["rocketscope_lake_unread_files_deleted|hangzhou"] == 37
    assert found["rocketscope_live_sockets"] == 0
    assert found["rocketscope_collector_sweep_seconds|hangzhou|c1@host"] == 0.012
    assert found["rocketscope_broker_answered|hz1@broker-a|hangzhou"] == 1
    assert found["rocketscope_broker_answered|hz2@broker-c|hangzhou"] == 0


def test_without_a_cache_only_its_own_figures(settings: Any) -> None:
    settings.ROCKETSCOPE_REDIS_URL = "redis://127.0.0.1:1/0"
    found = values(Client().get("/metrics").content.decode())
    assert found == {"rocketscope_live_sockets": 0, "rocketscope_cache_up": 0}
