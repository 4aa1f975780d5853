"""The rebalance timeline on its page and on the allocation page."""

from __future__ import annotations

from collections.abc import Callable

from asgiref.sync import sync_to_async
from playwright.async_api import expect

from dashboard.models import Cluster, Epoch
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
