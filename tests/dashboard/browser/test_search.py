"""The search field in a browser: by keyboard, by finger, and for a screen reader."""

from __future__ import annotations

from collections.abc import Callable

from playwright.async_api import expect

from tests.dashboard.documents import now_ms, overview, waiting_for_locks
from tests.dashboard.live.names_documents import put_names
from tests.support.valkey import Valkey

from .conftest import Open

LIST = "/clusters/hangzhou/"


async def test_names_are_offered_chosen_and_opened_by_keyboard(
    open_page: Open, write: Callable[..., None], valkey: Valkey
) -> None:
    write(overview(now_ms()), waiting_for_locks(now_ms()))
    put_names(
        valkey.port, "hangzhou", group=["order-settlement"], topic=["orders", "other"]
    )
    page = await open_page("/settings/")
    field = page.get_by_role("combobox", name="Search all clusters")
    await expect(field).to_have_attribute("aria-expanded", "false")
    await field.press_sequentially("ord")
    offers = page.get_by_role("listbox", name="Search all clusters")
    await expect(offers.get_by_role("option")).to_have_count(2)
    await expect(field).to_have_attribute("aria-expanded", "true")
    await field.press("ArrowDown")
    await field.press("ArrowDown")
    await field.press("ArrowUp")
    chosen = offers.get_by_role("option", selected=True)
    await expect(chosen).to_have_text("order-settlement")
    marked = await chosen.get_attribute("id")
    await expect(field).to_have_attribute("aria-activedescendant", str(marked))
    await field.press("Escape")
    await expect(offers).to_be_hidden()
    await expect(field).to_have_value("ord")
    await field.press("ArrowDown")
    await expect(offers.get_by_role("option")).to_have_count(2)
    await field.press("ArrowUp")
    await field.press("Enter")
    await page.wait_for_url("**/topics/orders/")


async def test_a_phone_has_the_search_as_a_page_of_its_own(
    open_page: Open, write: Callable[..., None], valkey: Valkey
) -> None:
    write(overview(now_ms()), waiting_for_locks(now_ms()))
    put_names(valkey.port, "hangzhou", group=["order-settlement"])
    page = await open_page(LIST, width=390)
    await page.get_by_role("link", name="Search", exact=True).click()
    field = page.get_by_role("combobox")
    await expect(field).to_be_focused()
    await field.press_sequentially("settle")
    await page.get_by_role("option", name="order-settlement").click()
    await page.wait_for_url("**/groups/order-settlement/")
