from __future__ import annotations

import time
from typing import Any

import orjson
import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from analytics.lake.retention import GivenUp
from dashboard.jobs.unread import note_given_up
from dashboard.live.names import BEAT_KEY, metrics_key
from dashboard.live.state import live_state
from tests.dashboard.conftest import Write
from tests.dashboard.documents import overview

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


def values(text: str) -> dict[str, float]:
    """Return the samples by name and labels."""
    return {
        "|".join([sample.name, *sorted(sample.labels.values())]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_says_that_it_lives_without_database_or_cache() -> None:
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")


@pytest.mark.django_db
def test_is_ready_when_database_and_cache_answer(valkey: object) -> None:
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "database": "ok", "cache": "ok"}


@pytest.mark.django_db
@pytest.mark.parametrize("url", ["", "redis://127.0.0.1:1/0"])
def test_is_not_ready_without_a_cache(url: str, settings: Any) -> None:
    settings.ROCKETSCOPE_REDIS_URL = url
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["cache"] != "ok"


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
    assert found["rocketscope_collector_sweeps_total|c1@host|hangzhou"] == 7
    assert found["rocketscope_collector_pending_rows|c1@host|hangzhou"] == 4
    assert 2 <= found["rocketscope_beat_pulse_age_seconds"] < 10
    assert found["rocketscope_collector_lapses_total|c1@host|hangzhou"] == 3
    assert found["rocketscope_collector_missed_total|c1@host"] == 9
    assert found["rocketscope_collector_late_ms|c1@host"] == 6200
    assert found["rocketscope_collector_loop_held_ms|c1@host"] == 4100
    totals = overview()["totals"]
    assert found["rocketscope_lag_messages|hangzhou"] == totals["lag"]
    assert found["rocketscope_groups|crit|hangzhou"] == totals["by_level"]["crit"]
    assert found["rocketscope_lake_unread_files_deleted|hangzhou"] == 37
    assert found["rocketscope_live_sockets"] == 0


def test_without_a_cache_only_its_own_figures(settings: Any) -> None:
    settings.ROCKETSCOPE_REDIS_URL = "redis://127.0.0.1:1/0"
    found = values(Client().get("/metrics").content.decode())
    assert found == {"rocketscope_live_sockets": 0, "rocketscope_cache_up": 0}


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_only_reading_is_allowed(path: str) -> None:
    assert Client().post(path).status_code == 405
