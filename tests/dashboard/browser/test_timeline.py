"""The rebalance timeline on its page and on the allocation page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from asgiref.sync import sync_to_async
from django.utils import timezone
from playwright.async_api import expect

from dashboard.models import Alert, Cluster, Epoch
from tests.dashboard.alerts.made import made_alert, made_rule
from tests.dashboard.documents import now_ms, waiting_for_locks
from tests.dashboard.history import a_member_died, at

from .conftest import Open

GROUP = "/clusters/hangzhou/groups/order-settlement/"


async def test_the_timeline_moves_by_itself_and_keeps_to_its_lanes(
    open_page: Open, write: Callable[..., None]
) -> None:
    now = now_ms()
    cluster = await Cluster.objects.aget(name="hangzhou")
    await sync_to_async(a_member_died)(cluster, now)
    write(waiting_for_locks(now))
    page = await open_page(GROUP)
    await expect(page.locator("[data-timeline] svg.lane")).to_have_count(19)
    await expect(page.locator("[data-timeline] .mark.gap")).to_have_count(4)
    await page.click('.tabs a:has-text("Timeline")')
    await page.click('.segments a:has-text("Members")')
    await expect(page.locator(".timeline-members .lane-name")).to_have_count(7)
    await Epoch.objects.filter(number=43).aupdate(
        ended_after=at(now - 2000), ended_by=at(now - 1000)
    )
    ended = page.locator('tr[data-key="43"] td').nth(2)
    await expect(ended).not_to_have_text("now")


def ago(minutes: float) -> datetime:
    return timezone.now() - timedelta(minutes=minutes)


def alerts_of_the_group() -> Alert:
    """Keep a warning and, beside it, a critical alert whose rule has a long name."""
    made_alert(made_rule(name="Skew", severity="warn"), minutes=9, closed_at=ago(5))
    rule = made_rule(name="Lag of all settlements that have to be paid today")
    return made_alert(rule, minutes=7, acknowledged_by_name="olga")


async def test_alerts_are_marks_that_say_what_they_are(
    open_page: Open, write: Callable[..., None]
) -> None:
    now = now_ms()
    cluster = await Cluster.objects.aget(name="hangzhou")
    await sync_to_async(a_member_died)(cluster, now)
    write(waiting_for_locks(now))
    alert = await sync_to_async(alerts_of_the_group)()
    page = await open_page(f"{GROUP}timeline/")
    marks = page.locator("a.alert-mark")
    await expect(marks).to_have_count(2)
    critical = page.locator("a.alert-mark.crit")
    words = critical.locator(".words.wide-only")
    await expect(words).to_be_hidden()
    await critical.locator("rect").first.hover()
    await expect(words).to_be_visible()
    await page.mouse.move(0, 0)
    await expect(words).to_be_hidden()
    # A keyboard reaches the marks from the picture, and so do their words.
    await page.locator("[data-picture]").focus()
    while await page.evaluate("!document.activeElement.closest('a.alert-mark.crit')"):
        await page.keyboard.press("Tab")
    await expect(words).to_be_visible()
    await expect(words).to_contain_text("acknowledged by olga")
    await page.set_viewport_size({"width": 390, "height": 844})
    await expect(critical.locator(".words.narrow-only")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    # It does not begin to select a span.
    await critical.locator("rect").first.click()
    await page.wait_for_url(f"**/clusters/hangzhou/alerts/{alert.pk}/")
