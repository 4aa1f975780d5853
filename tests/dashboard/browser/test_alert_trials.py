"""The trial of a rule in a real browser: followed to its end, read on any screen."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from playwright.async_api import expect

from dashboard.models import JobRun
from tests.dashboard.alerts.tried import finished_trial

from .conftest import Open

PAGE = "/clusters/hangzhou/alerts/trial/7/"


async def test_a_trial_is_shown_as_soon_as_it_has_ended(
    cluster: object, open_page: Open
) -> None:
    run = await sync_to_async(finished_trial)(pk=7)
    rows = JobRun.objects.filter(pk=run.pk)
    await sync_to_async(rows.update)(state=JobRun.State.RUNNING, part=0.2)
    page = await open_page(PAGE)
    await expect(page.locator("progress")).to_have_attribute("value", "20")
    await sync_to_async(rows.update)(state=JobRun.State.DONE, part=1.0)
    await expect(page.locator(".trial-plot .opening")).to_have_count(3)
    await expect(page.get_by_role("heading", level=2)).to_contain_text("3 times")


@pytest.mark.parametrize("width", [390, 1280])
async def test_the_chart_fits_the_screen(
    cluster: object, open_page: Open, width: int
) -> None:
    await sync_to_async(finished_trial)(pk=7)
    page = await open_page(PAGE)
    await page.set_viewport_size({"width": width, "height": 900})
    box = await page.locator(".trial-plot").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert box["width"] > width * 0.5
    wide = "document.documentElement.scrollWidth - window.innerWidth"
    assert await page.evaluate(wide) <= 0
