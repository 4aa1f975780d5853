"""The findings beside the map: live, and shown in the map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.async_api import expect

from dashboard.live.documents import FindingState
from tests.dashboard.documents import lock_finding, now_ms, waiting_for_locks
from tests.dashboard.findings.fared import fared

from .conftest import Open, Publish

GROUP = "/clusters/hangzhou/groups/order-settlement/"
KEYS = [f"orders|hz2@broker-b|{number}" for number in range(4, 8)]


def update(findings: list[FindingState], **changes: Any) -> dict[str, Any]:
    document = waiting_for_locks(now_ms())
    return {
        "cluster": document["cluster"],
        "group": document["group"],
        "run": document["run"],
        "seq": document["seq"] + 1,
        "changes": {"findings": findings, **changes},
    }


async def test_rules_that_could_not_be_checked_are_said_without_findings(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    write(waiting_for_locks(now_ms()))
    page = await open_page(GROUP)
    panel = page.locator("[data-findings]")
    await expect(page.locator("[data-pill]")).to_have_attribute("data-state", "live")
    await publish(update([], rules=fared()))
    await expect(panel).to_be_visible()
    await expect(panel).to_contain_text("Not checked, needs broker-a, broker-b: 2")


async def test_findings_come_and_go_with_the_updates(
    open_page: Open, write: Callable[..., None], publish: Publish
) -> None:
    at = now_ms()
    write(waiting_for_locks(at))
    page = await open_page(GROUP)
    panel = page.locator("[data-findings]")
    await expect(panel).to_be_hidden()
    await expect(page.locator("[data-pill]")).to_have_attribute("data-state", "live")
    await publish(update([lock_finding(KEYS, at)]))
    await expect(panel).to_be_visible()
    await expect(panel).to_contain_text("Queues wait for a lock to expire")
    await expect(panel.locator("[data-findings-count]")).to_have_text("1")


async def test_a_finding_shows_its_queues_in_the_map_and_hides_them_again(
    open_page: Open, write: Callable[..., None]
) -> None:
    at = now_ms()
    write(waiting_for_locks(at, findings=[lock_finding(KEYS, at)]))
    page = await open_page(GROUP)
    button = page.locator("button[data-show]")
    await expect(button).to_have_text("Show 4 queues")
    await button.click()
    framed = page.locator("[data-map-stage] .is-found")
    await expect(framed).to_have_count(4)
    await button.click()
    await expect(framed).to_have_count(0)
