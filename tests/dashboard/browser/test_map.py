"""The allocation map: forms, marks, keyboard, and its twin."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.async_api import Page, expect

from tests.dashboard.documents import (
    BROKERS,
    group_state,
    large_group,
    member,
    now_ms,
    queue,
    waiting_for_locks,
)

from .conftest import Open

GROUP = "/clusters/hangzhou/groups/order-settlement/"
STAGE = "[data-map-stage]"


async def pressed(page: Page, form: str) -> None:
    button = page.locator("[data-map-views] [aria-pressed=true]")
    await expect(button).to_have_attribute("value", form)


@pytest.fixture
def written(write: Callable[..., None]) -> None:
    write(waiting_for_locks(now_ms()))


async def test_owner_lag_moves_and_the_missing_are_drawn(
    open_page: Open, written: None
) -> None:
    page = await open_page(GROUP)
    stage = page.locator(STAGE)
    await expect(stage.locator("g[data-row]")).to_have_count(3)
    await expect(stage.locator("g[data-row] .letter")).to_have_text(["A", "B", "C"])
    await expect(stage.locator("svg > g .hatch")).to_have_count(4)
    await expect(stage.locator(".ghost:not(.legend *)")).to_have_count(4)
    await expect(stage.locator("g.cell .moved")).to_have_count(5)
    await expect(stage).to_contain_text("4 queues waiting")
    cell = stage.locator('[data-key="orders|hz1@broker-a|6"] .number')
    await expect(cell).to_have_text("128k")
    label = await stage.locator(".map-frame").get_attribute("aria-label")
    assert label == "16 queues over 3 members; 4 without owner"


async def test_owned_twice_stands_in_both_rows_and_idle_says_why(
    open_page: Open, write: Callable[..., None]
) -> None:
    members = [member(0), member(1), member(2, idle="more_members_than_queues")]
    both = [members[0]["client_id"], members[1]["client_id"]]
    write(group_state(members, [queue(BROKERS[0], 0, owners=both)], taken_at=now_ms()))
    page = await open_page(GROUP)
    await expect(page.locator(f"{STAGE} g.cell .twice")).to_have_count(2)
    stage = page.locator(STAGE)
    await expect(stage).to_contain_text("×2")
    await expect(stage).to_contain_text("idle: there are more members than queues")
    await expect(stage).to_contain_text("every queue has one")


async def test_the_map_is_one_tab_stop_walked_by_arrows(
    open_page: Open, written: None
) -> None:
    page = await open_page(GROUP)
    await page.focus(".map-frame")
    said = page.locator("[data-map-say]")
    card = page.locator(".card")
    await page.keyboard.press("ArrowRight")
    await expect(said).to_contain_text("hz1@broker-a / 1 · 10.20.4.17 · Lag 141")
    await expect(card).to_contain_text("hz1@broker-a / 1")
    await page.keyboard.press("ArrowDown")
    await expect(said).to_contain_text("hz1@broker-a / 6 · 10.20.4.18")
    await page.keyboard.press("m")
    await expect(said).to_contain_text("hz2@broker-b / 0")
    await page.keyboard.press("u")
    await expect(said).to_contain_text("hz2@broker-b / 4 · No owner")
    await page.keyboard.press("Escape")
    await expect(card).to_be_hidden()
    await page.keyboard.press("Enter")
    row = page.locator("[data-queues] tr[aria-current]")
    await expect(row).to_have_attribute("data-key", "orders|hz2@broker-b|4")


async def test_hovering_lights_the_row_and_opens_the_card(
    open_page: Open, written: None
) -> None:
    page = await open_page(GROUP)
    await page.hover(f'{STAGE} [data-key="orders|hz1@broker-a|6"]')
    card = page.locator(".card")
    await expect(card).to_contain_text("128,440")
    await expect(card).to_contain_text("10.20.4.18 reported")
    lit = page.locator("[data-queues] tr.lit")
    await expect(lit).to_have_attribute("data-key", "orders|hz1@broker-a|6")


async def test_the_choice_of_view_stands_in_the_address(
    open_page: Open, written: None
) -> None:
    page = await open_page(GROUP)
    await pressed(page, "grid")
    await page.click('[data-map-views] [value="table"]')
    twin = page.locator(".twin")
    await expect(twin).to_contain_text("hz1@broker-a 0-5")
    await expect(twin).to_contain_text("hz2@broker-b 4-7")
    await expect(page).to_have_url(re.compile(r"\?view=table$"))
    await page.reload()
    await expect(twin).to_be_visible()
    await page.click('[data-map-views] [value="grid"]')
    await page.click('[data-map-measures] [value="age"]')
    await expect(page.locator(".legend").first).to_contain_text("Age 0")
    await expect(page).to_have_url(re.compile("measure=age"))


@pytest.mark.parametrize(
    ("size", "forms"),
    [
        ((24, 4), {1440: "grid", 390: "packed"}),
        ((96, 12), {1440: "grid", 1000: "strips"}),
        ((480, 60), {1440: "strips"}),
        ((1000, 200), {1440: "blocks"}),
    ],
)
async def test_the_largest_form_that_fits_is_taken(
    open_page: Open,
    write: Callable[..., None],
    size: tuple[int, int],
    forms: dict[int, str],
) -> None:
    write(large_group(*size, now_ms(), group="order-settlement"))
    page = await open_page(GROUP)
    for width, form in forms.items():
        await page.set_viewport_size({"width": width, "height": 900})
        button = page.locator(f'[data-map-views] [value="{form}"]')
        await expect(button).to_have_attribute("aria-pressed", "true")
        wide = "document.documentElement.scrollWidth <= innerWidth"
        await page.wait_for_function(wide)


async def test_a_block_opens_as_cells_and_closes_again(
    open_page: Open, write: Callable[..., None]
) -> None:
    write(large_group(1000, 200, now_ms(), group="order-settlement"))
    page = await open_page(GROUP)
    blocks = page.locator(f"{STAGE} g.block")
    await expect(blocks).not_to_have_count(0)
    count = await blocks.count()
    await page.locator(f"{STAGE} g.block", has_text="6").first.click()
    await expect(blocks).to_have_count(0)
    await expect(page.locator(f"{STAGE} [data-key]")).not_to_have_count(0)
    await page.click("[data-back]")
    await expect(blocks).to_have_count(count)


async def test_broadcasting_has_a_sentence_and_no_map(
    open_page: Open, write: Callable[..., None]
) -> None:
    write(waiting_for_locks(now_ms(), kind="broadcasting", mode="BROADCASTING"))
    page = await open_page(GROUP)
    await expect(page.locator(STAGE)).to_contain_text("every member has all queues")
    await expect(page.locator(f"{STAGE} svg.map")).to_have_count(0)


@pytest.mark.parametrize(
    ("kind", "said", "hatched"),
    [
        ("offline", "4 queues waiting", 4),
        ("shared_pop", "shared (POP)", 0),
        ("assigned_by_hand", "assigned by hand", 0),
        ("owned", "owner not known", 0),
    ],
)
async def test_owners_that_are_not_known_are_not_claimed(
    open_page: Open, write: Callable[..., None], kind: str, said: str, hatched: int
) -> None:
    queues = [queue(BROKERS[0], n, owner_source=None) for n in range(4)]
    members = [] if kind == "offline" else [member(0)]
    write(group_state(members, queues, kind=kind, taken_at=now_ms()))
    page = await open_page(GROUP)
    stage = page.locator(STAGE)
    await expect(stage).to_contain_text(said)
    await expect(stage.locator("svg > g .hatch")).to_have_count(hatched)
    for form in ("grid", "packed", "table"):
        await page.click(f'[data-map-views] [value="{form}"]')
        await expect(stage).not_to_contain_text("every queue has one")
