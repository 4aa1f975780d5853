"""The pages of alerts in a browser: they keep themselves fresh, and forms help."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from playwright.async_api import expect

from dashboard.models import Alert
from tests.dashboard.alerts.made import (
    made_alert,
    made_channel,
    made_message,
    made_rule,
    made_silence,
    standing,
    write_alerting,
)
from tests.dashboard.documents import now_ms, overview
from tests.support.valkey import Valkey

from .conftest import Open

PAGE = "/clusters/hangzhou/alerts/"
WIDE = "() => document.documentElement.scrollWidth - innerWidth"


def stock(valkey: Valkey) -> int:
    """Leave one alert for a group, one for many, a silence, and how rules stand."""
    channel = made_channel()
    rule, quiet = made_rule(channel), made_rule(name="quiet", groups="pay-*")
    alert = made_alert(rule)
    made_message(alert, channel, error="421 try again later", state="waiting")
    made_alert(quiet, *(f"payments-settlement-{n}" for n in range(9)), minutes=2)
    made_silence(groups="order-*")
    write_alerting(valkey.port, {rule.pk: standing(firing=1), quiet.pk: standing()})
    return alert.pk


@pytest.mark.parametrize("width", [1440, 390])
async def test_no_page_is_too_wide(
    open_page: Open, write: Callable[..., None], valkey: Valkey, width: int
) -> None:
    write(overview(now_ms()))
    pk = await sync_to_async(stock)(valkey)
    page = await open_page(PAGE, width=width)
    base = page.url.removesuffix(PAGE)
    for path in ("", f"{pk}/", "history/", "silences/", f"silences/new/?alert={pk}"):
        await page.goto(base + PAGE + path)
        assert await page.evaluate(WIDE) <= 0, path
    await page.goto(f"{base}/alerts/channels/")
    assert await page.evaluate(WIDE) <= 0


async def test_the_page_follows_by_itself(
    open_page: Open, write: Callable[..., None], valkey: Valkey
) -> None:
    write(overview(now_ms()))
    page = await open_page(PAGE)
    await expect(page.get_by_text("No alert is open.")).to_be_visible()
    await sync_to_async(stock)(valkey)
    card = page.locator(".alert-card", has_text="order-settlement")
    await expect(card).to_be_visible()
    await expect(page.locator("[data-pill]")).to_have_attribute("data-state", "live")
    await sync_to_async(Alert.objects.all().delete)()
    await expect(page.get_by_text("No alert is open.")).to_be_visible()


async def test_the_form_of_a_rule_shows_what_its_kind_uses(
    open_page: Open, write: Callable[..., None]
) -> None:
    document = overview(now_ms())
    write(document)
    page = await open_page(f"{PAGE}rules/new/")
    for name in ("name", "kind", "limit", "clear_limit", "hold", "severity", "groups"):
        await expect(page.locator(f"[name={name}]")).to_be_visible()
    await expect(page.locator("[name=finding]")).to_be_hidden()
    await page.select_option("[name=kind]", "finding")
    await expect(page.locator("[name=finding]")).to_be_visible()
    await expect(page.locator("[name=limit]")).to_be_hidden()
    await page.select_option("[name=kind]", "broker")
    await expect(page.locator("[name=groups]")).to_be_hidden()
    await page.select_option("[name=kind]", "lag")
    name = document["groups"][0]["group"]
    await page.fill("[name=groups]", name)
    matching = page.locator("[data-matching]")
    await expect(matching).to_contain_text(f"matches now: {name}")
