"""What a newcomer sees after `./rocketscope up`: behaviour B1, live, in a browser."""

from __future__ import annotations

import logging
import re
import time
from typing import Final

import pytest
from playwright.sync_api import Page

from tests.support.database import rows_of
from tests.support.launched import LaunchedStack

logger = logging.getLogger(__name__)

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.browser,
    pytest.mark.timeout(1800),
]

PATIENCE_S: Final = 60.0
GROUP: Final = "/clusters/embedded/groups/demo-consumers/"
READ_MAP: Final = """() =>
  [...document.querySelectorAll("[data-map-stage] g[data-row]")]
  .map((row) => [...row.querySelectorAll("g.cell")]
    .map((cell) => Number(cell.dataset.key.split("|").at(-1))))"""
HOSTS: Final = """
    select substr(worker, 1, instr(worker || '@', '@') - 1), count(*)
    from dashboard_managedmember where worker <> '' and wanted group by 1
"""
MARK_LOAD: Final = "() => { window.loadedOnce = true; }"
ONE: Final = [list(range(16))]
TWO: Final = [list(range(8)), list(range(8, 16))]
THREE: Final = [list(range(6)), list(range(6, 11)), list(range(11, 16))]


def wait_for_map(page: Page, expected: list[list[int]]) -> float:
    """Return after how many seconds the map showed the division expected."""
    began = time.monotonic()
    shown: object = None
    while time.monotonic() - began < PATIENCE_S:
        shown = page.evaluate(READ_MAP)
        if shown == expected:
            return time.monotonic() - began
        page.wait_for_timeout(50)
    raise AssertionError(f"the map shows {shown}, expected {expected}")


def wait_for_hosts(page: Page, stack: LaunchedStack, wanted: list[int]) -> None:
    """Return when the workers host as many members as wanted, ascending."""
    deadline = time.monotonic() + PATIENCE_S
    while sorted((found := dict(rows_of(stack.var_dir, HOSTS))).values()) != wanted:
        assert time.monotonic() < deadline, f"the workers host {found}"
        page.wait_for_timeout(100)


def test_the_map_follows_one_two_three_consumers(
    page: Page, stack: LaunchedStack
) -> None:
    page.goto(stack.address + GROUP)
    wait_for_map(page, ONE)
    page.evaluate(MARK_LOAD)
    for expected in (TWO, THREE):
        page.locator("[data-add]").click()
        took = wait_for_map(page, expected)
        logger.info("%s members on the map after %.2f s", len(expected), took)
    for expected in (TWO, ONE):
        page.locator("[data-remove='']").first.click()
        took = wait_for_map(page, expected)
        logger.info("%s members on the map after %.2f s", len(expected), took)
    assert page.evaluate("() => window.loadedOnce"), "the page was loaded anew"


def test_members_are_spread_over_both_workers(page: Page, stack: LaunchedStack) -> None:
    page.goto(stack.address + GROUP)
    wait_for_map(page, ONE)
    page.locator("[data-add]").click()
    wait_for_map(page, TWO)
    wait_for_hosts(page, stack, [2, 3])
    page.locator("[data-remove='']").first.click()
    wait_for_map(page, ONE)


def test_the_demo_has_more_to_see_than_a_healthy_group(
    page: Page, stack: LaunchedStack
) -> None:
    page.goto(stack.address + "/clusters/embedded/")
    rows = page.locator("[data-rows] tbody")
    for group, topic in (("demo-slow", "orders"), ("demo-orderly", "payments")):
        row = rows.locator(f"tr[data-key='{group}']")
        row.wait_for(timeout=PATIENCE_S * 1000)
        assert topic in row.inner_text()
    steps = page.get_by_role("region", name=re.compile("Three steps"))
    steps.get_by_role("link", name="Open demo-consumers").click()
    page.wait_for_url(f"**{GROUP}")


def test_the_pill_says_live_with_the_age_of_the_data(
    page: Page, stack: LaunchedStack
) -> None:
    page.goto(stack.address + GROUP)
    page.get_by_text(re.compile(r"live · \d+\.\d s ago")).wait_for(
        timeout=PATIENCE_S * 1000
    )


def test_the_table_says_what_the_map_says(page: Page, stack: LaunchedStack) -> None:
    page.goto(stack.address + GROUP)
    wait_for_map(page, ONE)
    page.locator("[data-map-views] button[value=table]").click()
    table = page.locator("[data-map-stage] table")
    table.wait_for()
    member, nobody = table.locator("tbody tr").all_inner_texts()
    assert "broker-a 0-15" in member
    assert nobody.startswith("No owner")


def test_what_if_names_the_queues_that_would_move(
    page: Page, stack: LaunchedStack
) -> None:
    page.goto(stack.address + GROUP + "whatif/?v=1&s=AVG_BY_CIRCLE&a=10.0.0.9%401")
    page.get_by_role("heading", name="AVG_BY_CIRCLE").wait_for()
    text = page.locator("main").inner_text()
    for strategy in ("AVG", "CONFIG", "MACHINE_ROOM", "CONSISTENT_HASH"):
        assert strategy in text
    assert "8 of 16 queues change owner" in text


@pytest.mark.parametrize("path", ["", "clusters/embedded/", "reports/", "audit/"])
def test_every_page_loads_without_an_error(
    page: Page, stack: LaunchedStack, path: str
) -> None:
    answer = page.goto(f"{stack.address}/{path}")
    assert answer is not None
    assert answer.status == 200
