"""What-if and switching in a browser: edits run again, changes are watched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from asgiref.sync import sync_to_async
from playwright.async_api import expect

from dashboard.models import GroupChange, ManagedGroup, SavedScenario
from tests.dashboard.documents import hosted_group, large_group, now_ms
from tests.dashboard.hosting.managed import NAME, host

from .conftest import Open, Publish

GROUP = f"/clusters/hangzhou/groups/{NAME}/"
COLUMNS = """stage => [...document.querySelectorAll(`${stage} [data-key]`)]
  .filter(cell => cell.querySelector("rect"))
  .map(cell => [cell.dataset.key,
                Math.floor(cell.querySelector("rect").getAttribute("x"))])
  .sort()"""
Write = Callable[..., None]


async def test_an_edit_runs_again_and_becomes_the_address(
    open_page: Open, write: Write
) -> None:
    write(hosted_group(now_ms()))
    await sync_to_async(host)()
    page = await open_page(f"{GROUP}whatif/?v=1&s=AVG")
    await page.evaluate("() => { window.loadedOnce = true; }")
    await page.click("[data-more]")
    added = f"10.20.6.11@{NAME}-4.1"
    await page.wait_for_url(f"**/whatif/?v=1&s=AVG&a=10.20.6.11%40{NAME}-4.1&show=AVG")
    await expect(page.locator("[data-member-count] output")).to_have_text("4")
    await expect(page.locator("[data-after] g[data-row]")).to_have_count(4)
    assert await page.evaluate(COLUMNS, "[data-before]") == await page.evaluate(
        COLUMNS, "[data-after]"
    )
    await page.click("[data-row-link='AVG_BY_CIRCLE']")
    await expect(page.locator("#chosen-title")).to_have_text("AVG_BY_CIRCLE")
    await page.fill('input[name="k"]', "400")
    await page.wait_for_url("**k=400**")
    await page.click("[data-fewer]")
    await expect(page.locator("[data-member-count] output")).to_have_text("3")
    await expect(page.locator(f'input[name="a"][value="{added}"]')).to_have_count(0)
    assert await page.evaluate("() => window.loadedOnce"), "nothing was reloaded"


async def test_a_scenario_is_saved_as_it_is_shown(
    open_page: Open, write: Write
) -> None:
    write(hosted_group(now_ms()))
    await sync_to_async(host)()
    page = await open_page(f"{GROUP}whatif/?v=1")
    await page.select_option("[data-strategy]", "BALANCED")
    await page.wait_for_url("**show=BALANCED")
    await page.fill('.saved-form input[name="name"]', "Even load")
    await page.check('.saved-form input[name="shared"]')
    await page.click(".saved-form button:not([type])")
    await page.wait_for_url("**saved=*")
    saved = await SavedScenario.objects.aget()
    assert (saved.name, saved.show, saved.shared) == ("Even load", "BALANCED", True)
    await expect(page.locator(".saved li[aria-current]")).to_contain_text("Even load")


async def test_a_switch_is_previewed_applied_and_followed(
    open_page: Open, write: Write
) -> None:
    write(hosted_group(now_ms()))
    await sync_to_async(host)()
    page = await open_page(f"{GROUP}whatif/?v=1&s=AVG_BY_CIRCLE")
    await page.click(".whatif-bar .button-main")
    await page.fill('input[name="reason"]', "CHG-3")
    await page.click(".apply-form .button-main")
    await page.wait_for_url("**/changes/*/")
    await expect(page.locator("#progress-title")).to_contain_text("following")
    change = await GroupChange.objects.aget()
    state: Any = hosted_group(now_ms())
    for each in state["members"]:
        each["strategy"] = "AVG_BY_CIRCLE"
    for index, row in enumerate(state["queues"]):
        row["owners"] = [state["members"][index % 3]["client_id"]]
    write(state)
    await expect(page.locator("#progress-title")).to_contain_text("Done")
    await page.fill('input[name="reason"]', "worse")
    await page.click(".apply-form .button")
    await page.wait_for_url(f"**/changes/{change.pk + 1}/")
    assert (await ManagedGroup.objects.aget()).strategy == "AVG"


async def test_the_map_says_while_strategies_are_mixed(
    open_page: Open, write: Write, publish: Publish
) -> None:
    state: Any = hosted_group(now_ms())
    write(state)
    page = await open_page(GROUP)
    banner = page.locator("[data-mixed]")
    await expect(page.locator("[data-map-stage] g[data-row]").first).to_be_visible()
    await expect(banner).to_be_hidden()
    state["seq"] += 1
    state["members"][0]["strategy"] = "AVG_BY_CIRCLE"
    write(state)
    await page.reload()
    await expect(banner).to_contain_text("Mixed strategies since")
    await expect(banner).to_contain_text("1 × AVG_BY_CIRCLE")
    state["seq"] += 1
    state["members"][0]["strategy"] = "AVG"
    write(state)
    await publish({"cluster": "hangzhou", "group": NAME, "run": "other", "seq": 1})
    await expect(banner).to_be_hidden()


async def test_a_large_group_is_drawn_as_blocks(open_page: Open, write: Write) -> None:
    write(large_group(1200, 80, now_ms(), group=NAME))
    page = await open_page(f"{GROUP}whatif/?v=1&s=AVG_BY_CIRCLE")
    await expect(page.locator("[data-after] [data-block]").first).to_be_visible()
    await expect(page.locator("[data-before] [data-block]").first).to_be_visible()
