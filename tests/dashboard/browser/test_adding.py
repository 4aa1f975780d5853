"""Adding a consumer to a group that others use: asked, confirmed, and there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import Page, expect

from dashboard.models import AuditEntry, Cluster, ManagedGroup, ManagedMember
from tests.dashboard.documents import member, now_ms, waiting_for_locks

from .conftest import Open, Publish, in_one_loop
from .test_live import live, update

NAME = "order-settlement"
GROUP = f"/clusters/hangzhou/groups/{NAME}/"
FORM = "form[data-confirm]"
FIELD = f"{FORM} input[name=confirm]"


@pytest.fixture
def hosted(cluster: object) -> ManagedGroup:
    """A group hosted here, in which three members of others are online."""
    return ManagedGroup.objects.create(
        cluster=Cluster.objects.get(name="hangzhou"),
        name=NAME,
        topics=[{"topic": "orders", "expression": "*"}],
        members_wanted=0,
    )


@in_one_loop
async def asked(
    open_page: Open, write: Callable[..., None], hosted: ManagedGroup
) -> tuple[Page, Any]:
    """The page of the members after the button was pressed, and what is known."""
    state = waiting_for_locks(now_ms(), managed=True)
    write(state)
    page = await open_page(GROUP + "members/", refused=True)
    await live(page)
    await page.click("[data-add]")
    await expect(page.locator(FORM)).to_be_visible()
    return page, state


async def test_the_name_of_the_group_brings_the_member(
    asked: tuple[Page, Any], publish: Publish, hosted: ManagedGroup
) -> None:
    page, state = asked
    await expect(page.locator("[data-confirm-text]")).to_contain_text(
        "has 3 members that are not hosted here"
    )
    await expect(page.locator(FIELD)).to_be_focused()
    await page.keyboard.type(NAME)
    await page.keyboard.press("Enter")
    await expect(page.locator(FORM)).to_be_hidden()
    await expect(page.locator("[data-notes]")).to_contain_text("One more consumer")
    await expect(page.locator("[data-add]")).to_be_focused()
    await hosted.arefresh_from_db()
    assert hosted.members_wanted == 1
    assert await ManagedMember.objects.filter(group=hosted, wanted=True).acount() == 1
    entry = await AuditEntry.objects.aget(action="member.add")
    assert "3 members that are not hosted here" in entry.details["confirmed"]
    ours = member(3, client_id="10.20.6.11@ours-1.1", label="ours-1.1", managed=True)
    members = [*state["members"], ours]
    await publish(update(state, 8, {"members": members}))
    await expect(page.locator("[data-members] tbody tr")).to_have_count(4)
    await expect(page.locator("[data-members]")).to_contain_text("ours-1.1")


async def test_another_name_is_told_and_kept_to_be_mended(
    asked: tuple[Page, Any], hosted: ManagedGroup
) -> None:
    page, _state = asked
    await page.keyboard.type("order-settlements")
    await page.keyboard.press("Enter")
    told = page.locator("[data-confirm-text]")
    await expect(told).to_contain_text("“order-settlements” is not its name.")
    await expect(page.locator(FIELD)).to_have_value("order-settlements")
    await expect(page.locator(FIELD)).to_be_focused()
    await hosted.arefresh_from_db()
    assert hosted.members_wanted == 0
    await page.keyboard.type(NAME)
    await page.keyboard.press("Enter")
    await expect(page.locator(FORM)).to_be_hidden()


@pytest.mark.parametrize("way", ["Escape", "Cancel"])
async def test_the_question_can_be_left(
    asked: tuple[Page, Any], hosted: ManagedGroup, way: str
) -> None:
    page, _state = asked
    if way == "Escape":
        await page.keyboard.press("Escape")
    else:
        await page.get_by_role("button", name="Cancel").click()
    await expect(page.locator(FORM)).to_be_hidden()
    await expect(page.locator("[data-add]")).to_be_focused()
    await hosted.arefresh_from_db()
    assert hosted.members_wanted == 0
