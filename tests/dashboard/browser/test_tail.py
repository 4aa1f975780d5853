"""The live tail in a browser: what comes is shown, and its ids can be copied."""

from __future__ import annotations

from typing import Any

from playwright.async_api import expect

from rmqcore.client import Producer
from rmqcore.model import Message

from .conftest import Open
from .stocked import CLUSTER, Stocked


async def test_keys_and_ids_of_what_comes_can_be_copied(
    there: Stocked, open_page: Open, settings: Any
) -> None:
    page = await open_page("/clusters/hangzhou/messages/tail/?topic=orders")
    # An answer says from where on the tail is shown.
    async with page.expect_response("**/tail/step/**"):
        pass
    (server,) = settings.ROCKETSCOPE_CLUSTERS[CLUSTER].name_servers
    producer = Producer(server, group="sellers")
    await producer.start()
    sent = await producer.send(Message.of("orders", b"{}", keys=["tail-1"]))
    await producer.send(Message.of("orders", b"{}"))
    await producer.shutdown()
    rows = page.locator("[data-tail-rows] tr")
    await expect(rows).to_have_count(2)
    # By pointer and by keyboard: rows have no buttons before.
    await expect(rows.locator(".copy")).to_have_count(0)
    await rows.nth(1).hover()
    await expect(rows.locator("[data-copy='tail-1']")).to_have_count(1)
    await rows.nth(0).locator("a").focus()
    await expect(rows.locator(".copy")).to_have_count(3)
    await rows.nth(1).hover()
    await expect(rows.locator(".copy")).to_have_count(3)
    await page.get_by_role(
        "button", name=f"Copy: Unique key {sent.msg_id}", exact=True
    ).click()
    await expect(page.locator("[data-notes]")).to_contain_text("Copied")
