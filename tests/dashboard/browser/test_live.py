"""Pages that move by themselves: updates, gaps, pauses, broken connections."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from playwright.async_api import Page, Route, expect

from tests.dashboard.documents import (
    now_ms,
    overview,
    overview_row,
    waiting_for_locks,
)

from .conftest import Open, Publish

GROUP = "/clusters/hangzhou/groups/order-settlement/"
HOME = "/clusters/hangzhou/"
ROWS = """() => [...document.querySelectorAll("[data-map-stage] g[data-row]")].map(
  row => [...row.querySelectorAll("g.cell")].map(
    cell => Number(cell.dataset.key.split("|").at(-1))))"""
LOADED_ONCE = """() => performance.getEntriesByType("resource")
  .filter(({ name }) => name.includes("/api/v1/")).length === 1"""
BEFORE = [[0, 1, 2, 3, 4, 5], [6, 7, 0, 1, 2], [3]]
AFTER = [[0, 1, 2, 3, 4, 5], [6, 7, 0, 1, 2], [3, 4, 5, 6, 7]]


async def live(page: Page) -> None:
    await expect(page.locator("[data-pill]")).to_have_attribute("data-state", "live")


async def shows(page: Page, rows: list[list[int]]) -> None:
    await page.wait_for_function(
        f"rows => JSON.stringify(({ROWS})()) === rows", arg=_json(rows)
    )


def _json(rows: list[list[int]]) -> str:
    return str(rows).replace(" ", "")


def taken_over(state: Any) -> dict[str, Any]:
    """Return the update in which the third member takes the waiting queues."""
    third = state["members"][2]["client_id"]
    queues = {
        f"orders|hz2@broker-b|{number}": {
            **state["queues"][8 + number],
            "owners": [third],
        }
        for number in (4, 5, 6, 7)
    }
    totals = {**state["totals"], "owned": 16, "unowned": 0}
    status = {"level": "ok", "word": "healthy"}
    return {"queues": queues, "totals": totals, "status": status}


def update(state: Any, seq: int, changes: dict[str, Any]) -> dict[str, Any]:
    named = {key: state[key] for key in ("cluster", "group", "run")}
    return {**named, "seq": seq, "changes": changes}


async def test_a_change_is_drawn_without_a_reload(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    state = waiting_for_locks(now_ms())
    write(state)
    page = await open_page(GROUP)
    await live(page)
    await shows(page, BEFORE)
    await page.evaluate("() => { window.loadedOnce = true; scrollTo(0, 120); }")
    await publish(update(state, 8, taken_over(state)))
    await shows(page, AFTER)
    tile = page.locator('[data-tile="status"]')
    await expect(tile).to_contain_text("Healthy")
    await expect(page.locator('[data-tile="queues"]')).to_contain_text("all owned")
    row = page.locator('[data-queues] tr[data-key="orders|hz2@broker-b|4"]')
    await expect(row).to_contain_text("10.20.4.19 reported")
    assert await page.evaluate("() => window.loadedOnce && scrollY") == 120


async def test_a_gap_loads_the_whole_document(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    state = waiting_for_locks(now_ms())
    write(state)
    page = await open_page(GROUP)
    await live(page)
    await shows(page, BEFORE)
    newer = {**state, **taken_over(state), "seq": 12}
    newer["queues"] = [
        taken_over(state)["queues"].get(f"orders|{q['broker']}|{q['queue_id']}", q)
        for q in state["queues"]
    ]
    write(newer)
    await publish(update(state, 12, {}))
    await shows(page, AFTER)


async def test_an_old_number_is_ignored(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    state = waiting_for_locks(now_ms())
    write(state)
    page = await open_page(GROUP)
    await live(page)
    # The document is loaded once more when the socket watches; after that, not again.
    await page.wait_for_function(LOADED_ONCE)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await publish(update(state, 6, {"members": []}))
    await publish(update(state, 8, {"status": {"level": "warn", "word": "stalled"}}))
    await expect(page.locator('[data-tile="status"]')).to_contain_text("Stalled")
    await shows(page, BEFORE)
    assert asked == []


async def test_pausing_holds_the_page_and_resuming_draws_what_was_missed(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    state = waiting_for_locks(now_ms())
    write(state)
    page = await open_page(GROUP)
    await live(page)
    await page.keyboard.press("p")
    pill = page.locator("[data-pill]")
    await expect(pill).to_contain_text("paused")
    await publish(update(state, 8, taken_over(state)))
    await page.wait_for_timeout(300)
    await shows(page, BEFORE)
    await page.keyboard.press("p")
    await expect(pill).to_contain_text("live")
    await shows(page, AFTER)


async def test_the_pill_tells_age_staleness_and_silent_brokers(
    open_page: Open, write: Callable[..., None]
) -> None:
    old = waiting_for_locks(now_ms() - 60_000)
    write(old)
    page = await open_page(GROUP)
    pill = page.locator("[data-pill]")
    await expect(pill).to_have_attribute("data-state", "stale")
    fresh = waiting_for_locks(now_ms())
    fresh["brokers"][1]["answered"] = False
    write(fresh)
    await page.reload()
    await expect(pill).to_contain_text("live · 1 of 2 brokers")
    write(waiting_for_locks(now_ms()))
    await page.reload()
    await live(page)
    await expect(page.locator("[data-pill-status]")).to_have_text("live")


async def test_a_group_that_comes_to_life_fills_the_page(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    write(overview(now_ms()))
    page = await open_page("/clusters/hangzhou/groups/newcomer/", refused=True)
    await expect(page.locator("main")).to_contain_text("Nothing has been collected")
    state = waiting_for_locks(now_ms(), group="newcomer")
    write(state)
    await publish(update(state, 7, {}))
    await shows(page, BEFORE)


async def test_what_comes_to_life_while_the_page_asks_for_it_is_shown(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    write(overview(now_ms()))
    page = await open_page("/clusters/hangzhou/groups/newcomer/", refused=True)
    await page.wait_for_function(LOADED_ONCE)
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def answer_late(route: Route) -> None:
        asked.set()
        await go_on.wait()
        await route.fulfill(status=404)

    await page.route("**/api/v1/**", answer_late, times=1)
    async with page.expect_websocket() as opened:
        await page.reload()
    socket = await opened.value
    await asked.wait()
    state = waiting_for_locks(now_ms(), group="newcomer")
    write(state)
    async with socket.expect_event("framereceived", lambda text: "changes" in text):
        await publish(update(state, 7, {}))
    go_on.set()
    await shows(page, BEFORE)


async def test_another_run_that_begins_while_the_page_loads_is_followed(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    state = waiting_for_locks(now_ms())
    write(state)
    page = await open_page(GROUP)
    await live(page)
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def answer_late(route: Route) -> None:
        answer = await route.fetch()
        asked.set()
        await go_on.wait()
        await route.fulfill(response=answer)

    await page.route("**/api/v1/**", answer_late, times=1)
    async with page.expect_websocket() as opened:
        await page.reload()
    socket = await opened.value
    await asked.wait()
    later = waiting_for_locks(now_ms(), run="19d0001-0000ffff", seq=1)
    later["status"] = {"level": "ok", "word": "healthy"}
    write(later)
    async with socket.expect_event("framereceived", lambda text: "changes" in text):
        await publish(update(later, 1, {}))
    go_on.set()
    await expect(page.locator('[data-tile="status"]')).to_contain_text("Healthy")


async def test_the_overview_follows_digests_and_keeps_what_one_looks_at(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    rows = [overview_row(name, lag=9) for name in ("alpha", "beta", "gamma")]
    write(overview(now_ms(), groups=rows))
    page = await open_page(HOME)
    names = page.locator("[data-rows] tbody tr td:nth-child(2)")
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    marked = page.locator("[data-rows] tr[aria-current]")
    await expect(marked).to_have_attribute("data-key", "beta")
    worse = overview_row(
        "gamma", lag=70_000, status={"level": "crit", "word": "stalled"}
    )
    write(overview(now_ms(), seq=12, groups=[worse, rows[0], rows[1]]))
    await publish({"cluster": "hangzhou", "run": "19d0000-0000abcd", "seq": 12})
    await expect(page.locator('tr[data-key="gamma"]')).to_contain_text("Stalled")
    await expect(names).to_have_text(["alpha", "beta", "gamma"])
    await expect(marked).to_have_attribute("data-key", "beta")
    await page.click("[data-apply-order]")
    await expect(names).to_have_text(["gamma", "alpha", "beta"])
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/groups/beta/")


async def test_a_group_that_left_the_list_is_struck_through_first(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    write(overview(now_ms(), groups=[overview_row("alpha"), overview_row("beta")]))
    page = await open_page(HOME)
    write(overview(now_ms(), seq=12, groups=[overview_row("beta")]))
    await publish({"cluster": "hangzhou", "run": "19d0000-0000abcd", "seq": 12})
    gone = page.locator('tr[data-key="alpha"]')
    await expect(gone).to_have_class("gone")
    await expect(gone).to_have_count(0)


async def test_a_refused_change_is_told_at_the_button(
    open_page: Open, write: Callable[..., None]
) -> None:
    write(waiting_for_locks(now_ms(), managed=True))
    page = await open_page(GROUP, refused=True)
    await page.click("[data-add]")
    problem = page.locator("[data-action-problem]:visible")
    await expect(problem).to_contain_text("no hosted group 'order-settlement'")
