from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import orjson
import pytest
import redis
from django.utils import timezone

from dashboard.clock.ticks import FALLBACK
from dashboard.live.names import BEAT_KEY
from dashboard.models import FleetWorker, Role, TimerRun
from tests.dashboard.conftest import SignIn
from tests.support.valkey import Valkey

pytestmark = pytest.mark.django_db


def pulse(valkey: Valkey, ago_ms: int = 0) -> None:
    at = round(time.time() * 1000) - ago_ms
    with redis.Redis(port=valkey.port) as client:
        client.set(BEAT_KEY, orjson.dumps({"at": at, "name": "beat@h", "pid": 9}))


@pytest.fixture
def ran(valkey: Valkey) -> None:
    now = timezone.now()
    FleetWorker.objects.create(
        name="fleet-1@h",
        host="h",
        pid=7,
        started_at=now - timedelta(seconds=30),
        seen_until=now + timedelta(seconds=6),
    )
    for number, ago in enumerate((40, 20)):
        due = now - timedelta(seconds=ago)
        TimerRun.objects.create(
            worker="fleet-1@h",
            timer="rebalance",
            slot=round(due.timestamp() / 20),
            due=due,
            started=due + timedelta(seconds=5 * number),
            took_ms=2.5,
            outcome="failed" if number else "done",
            asked_by=FALLBACK if number else "beat@h",
            members=2,
            error="no route" if number else "",
        )


def test_the_page_shows_the_pulse_the_strips_and_the_runs(
    ran: None, valkey: Valkey, sign_in: SignIn
) -> None:
    pulse(valkey)
    page = sign_in(Role.VIEWER).get("/timers/").content.decode()
    assert 'data-beat="alive"' in page
    assert "fleet-1@h" in page
    assert page.count('class="strip"') == 6
    assert 'class="slot failed made-up"' in page
    assert "made up by the worker itself" in page
    assert "no route" in page
    assert "+5000 ms" in page


def test_a_dead_beat_is_said(valkey: Valkey, sign_in: SignIn) -> None:
    pulse(valkey, ago_ms=9000)
    page = sign_in(Role.VIEWER).get("/timers/", headers={"X-Fragment": "1"})
    text = page.content.decode()
    assert "<html" not in text
    assert 'data-beat="dead"' in text
    assert "no pulse for 9." in text
    assert "No worker hosts consumers" in text


def test_runs_are_filtered_and_unknown_values_fall_back(
    ran: None, sign_in: SignIn
) -> None:
    viewer = sign_in(Role.VIEWER)
    trouble = viewer.get("/timers/?only=trouble&minutes=60").content.decode()
    assert trouble.count('<tr class="run"') == 1
    odd = viewer.get("/timers/?minutes=9&timer=none&page=x").content.decode()
    assert odd.count('<tr class="run"') == 2
    assert '<a href="?minutes=10" aria-current="true">' in odd


def test_strangers_sign_in(client: Any, db: None) -> None:
    assert client.get("/timers/").status_code == 302


def test_the_api_tells_the_same(ran: None, valkey: Valkey, sign_in: SignIn) -> None:
    pulse(valkey)
    viewer = sign_in(Role.VIEWER)
    timers = viewer.get("/api/v1/timers").json()
    assert timers["beat"]["state"] == "alive"
    assert timers["periods"]["persist_offsets"] == 5
    assert timers["workers"][0]["alive"]
    runs = viewer.get("/api/v1/timers/runs?trouble=true").json()
    assert len(runs) == 1
    assert (runs[0]["made_up"], runs[0]["outcome"]) == (True, "failed")
    assert runs[0]["late_ms"] == 5000
    answer = viewer.get("/api/v1/timers/runs?timer=tea")
    assert answer.status_code == 422
    assert viewer.get("/api/v1/timers/runs?limit=0").status_code == 422
