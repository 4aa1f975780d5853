"""Getting in by a link, and being shown out while a page is open."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from playwright.async_api import Page, expect

from dashboard.accounts.links import make_sign_in_token
from dashboard.live import admission
from dashboard.models import Role, Session, SignInLink, User
from tests.dashboard.documents import now_ms, overview, waiting_for_locks

from .conftest import Open
from .test_live import live

GROUP = "/clusters/hangzhou/groups/order-settlement/"


@pytest.fixture
def link(cluster: object) -> str:
    """The address of a link for somebody else than who is signed in."""
    vera = User.objects.create_user("vera", role=Role.VIEWER)
    return f"/sign-in/{make_sign_in_token(vera, timezone.now())}/"


async def stranger_at(open_page: Open, link: str) -> Page:
    page = await open_page("/settings/", refused=True)
    await page.context.clear_cookies()
    await page.goto(page.url.removesuffix("/settings/") + link)
    return page


async def is_spent() -> bool:
    return await SignInLink.objects.filter(used_at__isnull=False).aexists()


async def test_a_link_lets_in_by_enter_and_only_once(
    open_page: Open, write: Callable[..., None], link: str
) -> None:
    write(overview(now_ms()))
    page = await stranger_at(open_page, link)
    await expect(page.locator("h1")).to_have_text("Sign in as vera")
    await page.reload()
    assert not await is_spent()
    await expect(page.locator("form button")).to_be_focused()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/clusters/hangzhou/")
    assert await is_spent()
    await page.click('summary[title="vera"]')
    await expect(page.locator(".menu-box:visible")).to_contain_text("vera · Viewer")
    await page.context.clear_cookies()
    await page.goto(page.url.removesuffix("/clusters/hangzhou/") + link)
    await expect(page.locator("h1")).to_have_text("This link cannot be used to sign in")


async def test_a_link_that_was_used_meanwhile_says_so(
    open_page: Open, link: str
) -> None:
    page = await stranger_at(open_page, link)
    await SignInLink.objects.aupdate(used_at=timezone.now())
    await page.keyboard.press("Enter")
    await expect(page.locator("main")).to_contain_text("works once, within 15 minutes")


def end_all_sessions() -> None:
    Session.objects.all().delete()


def disable_everybody() -> None:
    User.objects.update(is_active=False)


@pytest.mark.parametrize("end", [end_all_sessions, disable_everybody])
async def test_a_page_is_left_when_its_socket_is_ended(
    open_page: Open,
    write: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    end: Callable[[], None],
) -> None:
    monkeypatch.setattr(admission, "CHECK_SECONDS", 0.05)
    write(waiting_for_locks(now_ms()))
    page = await open_page("/settings/", refused=True)
    sockets: list[str] = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    await page.goto(page.url.removesuffix("/settings/") + GROUP)
    await live(page)
    await sync_to_async(end)()
    await page.wait_for_url(f"**/sign-in/?next={GROUP}")
    await expect(page.locator("#id_username")).to_be_focused()
    assert len(sockets) == 1


async def test_a_page_whose_role_has_changed_connects_once_more(
    open_page: Open, write: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "CHECK_SECONDS", 0.05)
    write(waiting_for_locks(now_ms()))
    page = await open_page("/settings/")
    sockets: list[str] = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    await page.goto(page.url.removesuffix("/settings/") + GROUP)
    await live(page)
    async with page.expect_websocket():
        await User.objects.aupdate(role=Role.VIEWER)
    await live(page)
    assert len(sockets) == 2
