"""The page of timers sees beat die without a reload, and says how old it is."""

from __future__ import annotations

import time

import orjson
import redis
from playwright.async_api import expect

from dashboard.live.names import BEAT_KEY
from tests.support.valkey import Valkey

from .conftest import Open


def pulse(valkey: Valkey, ago_ms: int = 0) -> None:
    at = round(time.time() * 1000) - ago_ms
    with redis.Redis(port=valkey.port) as client:
        client.set(BEAT_KEY, orjson.dumps({"at": at, "name": "beat@h", "pid": 9}))


async def test_a_beat_that_dies_is_seen(open_page: Open, valkey: Valkey) -> None:
    pulse(valkey, ago_ms=-600_000)
    page = await open_page("/timers/")
    beat = page.locator("[data-beat]")
    await expect(beat).to_have_attribute("data-beat", "alive")
    pill = page.locator("[data-pill]")
    await expect(pill).to_have_attribute("data-state", "live")
    await page.locator('select[name="timer"]').select_option("heartbeat")
    pulse(valkey, ago_ms=4000)
    await expect(beat).to_have_attribute("data-beat", "dead")
    await expect(beat).to_contain_text("Beat is dead")
    await expect(page.locator('select[name="timer"]')).to_have_value("heartbeat")
