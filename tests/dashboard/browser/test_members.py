"""The table of members while updates come, some of whom have one client id."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from django.templatetags.static import static
from playwright.async_api import Page, expect

from tests.dashboard.documents import now_ms, shared_client_ids

from .conftest import Open, Publish

GROUP = "/clusters/hangzhou/groups/order-settlement/"
ROWS = "[data-members] tbody tr"


def update(state: Any, seq: int, lag: int) -> dict[str, Any]:
    """Return an update in which each member's lag is another."""
    members = deepcopy(state["members"])
    for place, each in enumerate(members):
        each["lag"] = lag + place
    named = {key: state[key] for key in ("cluster", "group", "run")}
    return {**named, "seq": seq, "changes": {"members": members}}


async def lags(page: Page) -> list[str]:
    cells = page.locator(f"{ROWS} td:nth-child(4)")
    return [text.strip() for text in await cells.all_text_contents()]


async def test_each_connection_keeps_its_row_over_updates(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    state = shared_client_ids(now_ms())
    write(state)
    page = await open_page(GROUP + "members/")
    await expect(page.locator("[data-pill]")).to_have_attribute("data-state", "live")
    first = await page.locator(ROWS).first.element_handle()
    for seq in range(8, 13):
        await publish(update(state, seq, seq * 100))
        await expect(page.locator(f"{ROWS} >> nth=2")).to_contain_text(
            f"{seq * 100 + 2:,}"
        )
        assert await lags(page) == [f"{seq * 100 + n:,}" for n in range(3)]
    names = page.locator(f"{ROWS} td:nth-child(1)")
    for place, name in enumerate(("connection 1 of 2", "connection 2 of 2")):
        await expect(names.nth(place)).to_contain_text(name)
    addresses = page.locator(f"{ROWS} td:nth-child(2)")
    await expect(addresses.nth(0)).to_contain_text("10.20.4.17:51234")
    await expect(addresses.nth(1)).to_contain_text("10.20.4.17:51999")
    # The rows are the same elements as before, not new ones beside them.
    assert first is not None
    assert await first.evaluate("(row, rows) => row.isConnected", ROWS)


async def test_a_connection_that_leaves_takes_one_row_along(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    state = shared_client_ids(now_ms())
    write(state)
    page = await open_page(GROUP + "members/")
    await expect(page.locator("[data-pill]")).to_have_attribute("data-state", "live")
    left = update(state, 8, 700)
    del left["changes"]["members"][1]
    await publish(left)
    await expect(page.locator(f"{ROWS}:not(.gone)")).to_have_count(2)
    await expect(page.locator(ROWS).first).not_to_contain_text("connection")


async def test_the_map_has_a_row_for_each_connection(
    open_page: Open, write: Callable[..., None]
) -> None:
    write(shared_client_ids(now_ms()))
    page = await open_page(GROUP)
    rows = page.locator("[data-map-stage] [data-row]")
    await expect(rows).to_have_count(3)
    for place, queues in enumerate((2, 2, 2)):
        await expect(rows.nth(place).locator(".cell")).to_have_count(queues)
    await expect(rows.nth(1)).to_contain_text("10.20.4.17 (2/2)")


@pytest.mark.parametrize("times", [2, 3])
async def test_rows_with_one_key_are_matched_in_order(
    open_page: Open, times: int
) -> None:
    page = await open_page("/settings/")
    counts = await page.evaluate(
        """async ([module, times]) => {
          const { morph } = await import(module);
          const body = (text) => {
            const table = document.createElement("table");
            const row = `<tr data-key="x"><td>${text}</td></tr>`;
            table.innerHTML = `<tbody>${row.repeat(times)}</tbody>`;
            return table.tBodies[0];
          };
          const shown = body("0");
          return [1, 2, 3].map((text) => {
            morph(shown, body(text));
            return shown.rows.length;
          });
        }""",
        [static("js/frame/morph.js"), times],
    )
    assert counts == [times] * 3
