"""Every page in a browser: no complaint in the console, nothing wider than a phone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from playwright.async_api import expect

from dashboard.models import Ownership, Team
from tests.dashboard.documents import now_ms, overview, waiting_for_locks

from .conftest import Open

GROUP = "/clusters/hangzhou/groups/order-settlement/"
PAGES = ["/clusters/hangzhou/", "/clusters/hangzhou/groups/", GROUP]
PAGES += [
    f"{GROUP}members/",
    f"{GROUP}timeline/",
    f"{GROUP}whatif/",
    "/audit/",
    "/settings/",
    "/account/",
    "/account/second-factor/",
]
PAGES += ["/labs/", "/timers/"]
PAGES += ["/clusters/hangzhou/alerts/", "/clusters/hangzhou/alerts/rules/new/"]
PAGES += ["/clusters/hangzhou/alerts/silences/new/", "/alerts/channels/new/"]
PAGES += [f"{GROUP}switch/?v=1&show=BALANCED", f"{GROUP}changes/"]
PAGES += ["/clusters/hangzhou/whatif/?v=1&q=t:b:8&a=x", "/clusters/hangzhou/hosted/"]
PAGES += [
    "/clusters/hangzhou/hosted/new/",
    "/search/?q=order",
    "/teams/",
    "/teams/new/",
]


@pytest.mark.parametrize("width", [1440, 390])
async def test_no_page_complains_or_is_too_wide(
    open_page: Open, write: Callable[..., None], width: int
) -> None:
    write(overview(now_ms()), waiting_for_locks(now_ms()))
    page = await open_page("/settings/", width=width)
    base = page.url.removesuffix("/settings/")
    for path in PAGES:
        await page.goto(base + path)
        wide = "() => document.documentElement.scrollWidth - innerWidth"
        assert await page.evaluate(wide) <= 0, path


@pytest.mark.parametrize("lang", ["en", "zh-CN"])
async def test_a_list_with_teams_shows_all_its_columns(
    open_page: Open, write: Callable[..., None], lang: str
) -> None:
    write(overview(now_ms()))
    team = await Team.objects.acreate(name="Order settlement platform")
    await Ownership.objects.acreate(team=team, groups="*")
    page = await open_page("/clusters/hangzhou/groups/", lang=lang)
    await page.locator("td.team").first.wait_for()
    table = page.locator("table").first
    hidden = "table => table.scrollWidth - table.parentElement.clientWidth"
    assert await table.evaluate(hidden) <= 0


async def test_the_theme_changes_without_a_reload_and_stays(open_page: Open) -> None:
    page = await open_page("/settings/")
    await page.evaluate("() => { window.loadedOnce = true; }")
    await page.click('summary[title="Theme"]')
    await page.click('button[value="dark"]')
    root = page.locator("html")
    await expect(root).to_have_attribute("data-theme", "dark")
    assert await page.evaluate("() => window.loadedOnce")
    await page.reload()
    await expect(root).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize(("system", "chosen"), [("light", "dark"), ("dark", "light")])
async def test_a_chosen_theme_goes_before_the_system(
    open_page: Open,
    system: Literal["light", "dark"],
    chosen: Literal["light", "dark"],
) -> None:
    grounds = {"light": "rgb(244, 246, 247)", "dark": "rgb(14, 18, 21)"}
    page = await open_page("/settings/")
    body = page.locator("body")
    await page.emulate_media(color_scheme=system)
    await expect(body).to_have_css("background-color", grounds[system])
    await page.click('summary[title="Theme"]')
    await page.click(f'button[value="{chosen}"]')
    await expect(body).to_have_css("background-color", grounds[chosen])
    await page.reload()
    await expect(body).to_have_css("background-color", grounds[chosen])
    await page.click('summary[title="Theme"]')
    await page.click('button[value="auto"]')
    await expect(body).to_have_css("background-color", grounds[system])


async def test_menus_close_by_a_click_elsewhere_and_by_escape(open_page: Open) -> None:
    page = await open_page("/settings/")
    menu = page.locator("details[data-menu]", has=page.locator('[title="Theme"]'))
    await page.click('summary[title="Theme"]')
    await expect(menu).to_have_attribute("open", "")
    await page.click("h1")
    await expect(menu).not_to_have_attribute("open", "")
    await page.click('summary[title="Theme"]')
    await page.keyboard.press("Escape")
    await expect(menu).not_to_have_attribute("open", "")


async def test_keys_search_help_and_go(
    open_page: Open, write: Callable[..., None]
) -> None:
    write(overview(now_ms()))
    page = await open_page("/settings/")
    await page.keyboard.press("?")
    await expect(page.locator("dialog[data-help]")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.keyboard.press("/")
    await page.keyboard.type("invoice")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/search/?q=invoice")
    await expect(page.get_by_role("combobox")).to_have_value("invoice")
    await page.locator("h1").click()
    await page.keyboard.press("g")
    await page.keyboard.press("c")
    await page.wait_for_url("**/clusters/hangzhou/")


async def test_what_if_draws_both_divisions_over_the_same_columns(
    open_page: Open, write: Callable[..., None]
) -> None:
    write(waiting_for_locks(now_ms()))
    page = await open_page(f"{GROUP}whatif/?v=1&s=AVG")
    rows = """stage => [...document.querySelectorAll(`${stage} g[data-row]`)].map(
      row => row.querySelectorAll("g.cell").length)"""
    await page.wait_for_selector("[data-after] svg")
    await expect(page.locator("[data-after] .moved")).to_have_count(4)
    assert await page.evaluate(rows, "[data-before]") == [6, 5, 1]
    assert await page.evaluate(rows, "[data-after]") == [6, 5, 5]
    columns = """stage => [...document.querySelectorAll(`${stage} [data-key]`)]
      .filter(cell => cell.querySelector("rect"))
      .map(cell => [cell.dataset.key,
                    Math.floor(cell.querySelector("rect").getAttribute("x"))])
      .sort()"""
    before = await page.evaluate(columns, "[data-before]")
    assert before == await page.evaluate(columns, "[data-after]")
    await page.click(".scenario-options > summary")
    await page.fill('[name="n"]', "40")
    await page.wait_for_url("**n=40**")
