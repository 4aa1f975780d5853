"""No page makes a first visitor wait for more than its share of bytes."""

from __future__ import annotations

from collections.abc import Callable

from tests.dashboard.documents import looked_at, now_ms, overview_row, waiting_for_locks
from tests.support.drawing import check_no_hole
from tests.support.first_screen import LOADED, MOST_BYTES

from .conftest import Open
from .test_pages import GROUP, PAGES

FIRST = [*PAGES, f"{GROUP}queues/", f"{GROUP}findings/", "/reports/"]


async def test_the_first_screen_of_a_page_has_100_kb_at_most(
    open_page: Open, write: Callable[..., None]
) -> None:
    rows = [
        overview_row(f"group-{at}", lag=at * 7919, topics=[f"topic-{at % 40}"])
        for at in range(200)
    ]
    write(looked_at(groups=rows), waiting_for_locks(now_ms()))
    # Chinese words take the most bytes.
    page = await open_page("/settings/", lang="zh-CN")
    base = page.url.removesuffix("/settings/")
    for path in FIRST:
        # What an earlier page has left in the browser counts as many bytes as when it
        # came over the wire, so that no page needs a profile of its own.
        await page.goto(base + path)
        check_no_hole(await page.locator("body").inner_text())
        loaded = await page.evaluate(LOADED)
        names = [name for name, _body, _whole in loaded]
        assert any(name.endswith("/base.css") for name in names), path
        total = sum(body for _name, body, _whole in loaded)
        assert total <= MOST_BYTES, f"{path}: {total:,} bytes, of them {loaded}"


async def test_so_has_that_of_the_page_to_sign_in(open_page: Open) -> None:
    page = await open_page("/teams/")
    assert page.context.browser is not None
    stranger = await page.context.browser.new_context()
    fresh = await stranger.new_page()
    await fresh.goto(page.url)
    assert "/sign-in/" in fresh.url
    loaded = await fresh.evaluate(LOADED)
    assert any(name.endswith("/base.css") for name, _body, _whole in loaded)
    assert sum(body for _name, body, _whole in loaded) <= MOST_BYTES
    await stranger.close()
