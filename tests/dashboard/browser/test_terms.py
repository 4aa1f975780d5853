"""Words explained where they stand: by key, at their place, and closed again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from playwright.async_api import expect

from tests.dashboard.documents import now_ms, shared_client_ids
from tests.support import axe

from .conftest import Open
from .stocked import CLUSTER, Stocked
from .stocked import GROUP as STOCKED_GROUP

GROUP = "/clusters/hangzhou/groups/order-settlement/"


async def test_a_key_opens_a_meaning_at_its_word_and_another_closes_it(
    open_page: Open, write: Callable[..., Any]
) -> None:
    if missing := axe.missing_tool():
        pytest.skip(missing)
    write(shared_client_ids(now_ms()))
    page = await open_page(GROUP)
    button, meaning = page.locator("[data-tile=skew] .explain"), page.locator(".term")
    await expect(meaning.locator("visible=true")).to_have_count(0)
    await button.focus()
    await page.keyboard.press("Enter")
    shown = page.locator("#term-skew")
    await expect(shown).to_be_visible()
    await expect(shown).to_contain_text("1 is even")
    at, box = await button.bounding_box(), await shown.bounding_box()
    assert at is not None
    assert box is not None
    assert 0 <= box["y"] - (at["y"] + at["height"]) < 12, "below its button"
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1440
    await page.evaluate(axe.axe_script())
    assert await axe.violations(page) == []
    await page.keyboard.press("Escape")
    await expect(shown).to_be_hidden()
    await expect(button).to_be_focused()


async def test_what_a_script_draws_is_explained_as_well(
    open_page: Open, write: Callable[..., Any]
) -> None:
    write(shared_client_ids(now_ms()))
    page = await open_page(GROUP)
    await page.get_by_role("button", name="What “Epoch” means").click()
    await expect(page.locator("#term-epoch")).to_be_visible()


async def test_a_phone_keeps_what_explains_the_head_of_a_folded_table(
    there: Stocked, open_page: Open
) -> None:
    if missing := axe.missing_tool():
        pytest.skip(missing)
    address = reverse("client_running", args=[CLUSTER, there.client_id])
    page = await open_page(f"{address}?group={STOCKED_GROUP}", width=390)
    button = page.get_by_role("button", name="What “In hand” means")
    box = await button.bounding_box()
    assert box is not None
    assert 0 <= box["x"] < 390
    await button.click()
    await expect(page.locator("#term-in_hand")).to_be_visible()
    other = await page.locator("thead th").get_by_text("Last pull").bounding_box()
    assert other is not None
    assert other["x"] < 0, "other heads stay out of sight"
    await page.keyboard.press("Escape")
    await page.evaluate(axe.axe_script())
    assert await axe.violations(page) == []
