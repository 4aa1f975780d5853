"""A lab is started with a click and followed to its end, on a real cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from asgiref.sync import sync_to_async
from playwright.async_api import expect

from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.settings import ClusterSettings
from dashboard.labs.service import LabService
from rmqcore.cluster import LocalCluster

from .conftest import Open, in_one_loop


@in_one_loop
async def labs(cluster: ClusterSettings, settings: Any) -> AsyncIterator[None]:
    """The embedded cluster, and a worker's role that plays labs on it."""
    async with LocalCluster() as local:
        found = ClusterSettings("embedded", (local.nameserver_address,), embedded=True)
        settings.ROCKETSCOPE_CLUSTERS = {"embedded": found}
        await sync_to_async(sync_clusters)({"embedded": found})
        service = LabService("w1")
        await sync_to_async(service.start)()
        yield
        await sync_to_async(service.stop, thread_sensitive=False)()


async def test_f5_is_started_watched_and_seen_to_its_end(
    labs: None, open_page: Open
) -> None:
    page = await open_page("/labs/")
    panel = page.locator("section", has=page.locator("#lab-F5"))
    await panel.locator("summary").click()
    await panel.locator('[name="p-queues"]').fill("3")
    await panel.locator('[name="linger"]').fill("0.1")
    await panel.locator('[data-start="F5"]').click()
    await page.wait_for_url("**/labs/runs/*/")
    await page.evaluate("() => { window.loadedOnce = true; }")
    state = page.locator("[data-lab-state]")
    await expect(state).to_have_attribute("data-lab-state", "done")
    await expect(state).to_contain_text("all seen")
    assert await page.evaluate("() => window.loadedOnce")
    await expect(page.locator(".claims li")).to_have_count(4)
    steps = page.locator("[data-steps] li")
    await expect(steps.first).to_contain_text("is made on")
    await expect(steps.nth(1)).to_contain_text("c1 joins group LAB_F5_")
    rows = page.locator("[data-divided] svg")
    await expect(rows).to_have_count(3)


async def test_a_running_lab_is_cancelled(labs: None, open_page: Open) -> None:
    page = await open_page("/labs/", width=390)
    await page.locator('[data-start="F7"]').click()
    await page.wait_for_url("**/labs/runs/*/")
    await expect(page.locator("[data-steps] li").first).to_be_visible()
    await page.get_by_role("button", name="Cancel").click()
    state = page.locator("[data-lab-state]")
    await expect(state).to_have_attribute("data-lab-state", "cancelled")
