"""Signing in and out at a real OpenID Connect provider, in a real browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from dashboard.accounts.outside import GroupRight, Provider
from dashboard.models import Session, User
from tests.dashboard.documents import now_ms, overview
from tests.support.oidc_provider import missing_tool, oidc_provider

from .conftest import Open, in_one_loop

pytestmark = pytest.mark.skipif(
    missing_tool() is not None, reason=f"oidc-provider: {missing_tool()}"
)


@in_one_loop
async def provider(
    address: str, settings: Any, tmp_path: Path
) -> AsyncIterator[Provider]:
    running = oidc_provider(address, tmp_path)
    found = await asyncio.to_thread(running.__enter__)
    settings.ROCKETSCOPE_OIDC = found
    settings.ROCKETSCOPE_SIGN_IN_PASSWORDS = False
    settings.ROCKETSCOPE_SIGN_IN_GROUPS = (
        GroupRight("admins", "admin"),
        GroupRight("team", "viewer", "hangzhou"),
    )
    yield found
    running.__exit__(None, None, None)


async def signed_in_there(open_page: Open, account: str) -> Page:
    """Follow the button, sign in at the provider and agree; return where that leads."""
    page = await open_page("/settings/", refused=True)
    # The provider's own pages would have fonts from elsewhere.
    await page.context.route(
        lambda address: not address.startswith("http://127.0.0.1:"),
        lambda route: route.fulfill(body="", content_type="text/css"),
    )
    await page.context.clear_cookies()
    await page.goto(page.url.removesuffix("settings/") + "account/")
    await page.get_by_role("link", name="Sign in with Example ID").click()
    await page.fill('input[name="login"]', account)
    await page.fill('input[name="password"]', "any")
    await page.click('button[type="submit"]')
    await page.get_by_role("button", name="Continue").click()
    await page.wait_for_url("**/account/" if account != "vera" else "**/return/?**")
    return page


@pytest.fixture
def documents(write: Callable[..., None]) -> None:
    write(overview(now_ms()))


async def test_groups_give_the_role_and_signing_out_ends_it_there_too(
    documents: None, provider: Provider, open_page: Open
) -> None:
    page = await signed_in_there(open_page, "olga2-admins")
    await expect(page.locator("h1")).to_have_text("olga2")
    await expect(page.locator(".page-head .tag")).to_have_text("Admin")
    ours = page.url.removesuffix("/account/")
    await page.click('summary[title="olga2"]')
    await page.get_by_role("button", name="Sign out").click()
    await page.wait_for_url(f"{provider.issuer}/session/end**")
    await page.get_by_role("button", name="Yes, sign me out").click()
    await page.wait_for_url(f"{ours}/sign-in/?state=**")
    assert not await Session.objects.filter(user__username="olga2").aexists()
    await page.get_by_role("link", name="Sign in with Example ID").click()
    await expect(page.locator('input[name="login"]')).to_be_visible()


async def test_a_group_with_a_right_on_one_cluster(
    documents: None, provider: Provider, open_page: Open
) -> None:
    page = await signed_in_there(open_page, "paul-team")
    await expect(page.locator(".page-head .tag")).to_have_text("Viewer: hangzhou")


async def test_somebody_without_a_group_gets_in_nowhere(
    documents: None, provider: Provider, open_page: Open
) -> None:
    page = await signed_in_there(open_page, "vera")
    await expect(page.locator("main")).to_contain_text(
        "Example ID knows you as vera, but none of your groups has a right"
    )
    await page.goto(page.url.partition("/sign-in/")[0] + "/account/")
    await page.wait_for_url("**/sign-in/?next=/account/")
    assert not await User.objects.filter(username="vera").aexists()
