"""Setting up a second factor and signing in with it, as people see it."""

from __future__ import annotations

import pyotp
import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone
from playwright.async_api import expect

from dashboard.accounts.second_factor import STEP_SECONDS
from dashboard.models import Role, SecondFactor, User

from .conftest import Open

PASSWORD = "correct horse battery"
NARROW = {"width": 390, "height": 844}


@pytest.fixture
def vera(cluster: object) -> User:
    return User.objects.create_user("vera", password=PASSWORD, role=Role.VIEWER)


async def test_it_is_set_up_before_anything_else_and_asked_for_then(
    open_page: Open, vera: User, settings: object
) -> None:
    settings.ROCKETSCOPE_SIGN_IN_SECOND_FACTOR = "required"  # type: ignore[attr-defined]
    page = await open_page("/settings/", refused=True)
    await page.context.clear_cookies()
    await page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    ours = page.url.partition("/settings/")[0]
    await page.goto(f"{ours}/sign-in/?next=/account/")
    await page.fill('input[name="username"]', "vera")
    await page.fill('input[name="password"]', PASSWORD)
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/account/second-factor/")
    app = pyotp.TOTP(await page.locator(".secret").inner_text())
    await expect(page.locator(".qr svg")).to_be_visible()
    wide = await page.evaluate("document.documentElement.scrollWidth")
    assert wide <= NARROW["width"]
    await page.fill('input[name="password"]', PASSWORD)
    await page.fill('input[name="code"]', app.at(timezone.now()))
    await page.keyboard.press("Enter")
    await expect(page.locator("#recovery-codes")).to_be_visible()
    await page.goto(f"{ours}/account/")
    await expect(page.locator("h1")).to_have_text("vera")

    await page.context.clear_cookies()
    # As if the half minute were over.
    step = int(timezone.now().timestamp()) // STEP_SECONDS - 3
    await sync_to_async(SecondFactor.objects.update)(last_step=step)
    await page.goto(f"{ours}/sign-in/?next=/account/")
    await page.fill('input[name="username"]', "vera")
    await page.fill('input[name="password"]', PASSWORD)
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/sign-in/code/")
    await page.fill('input[name="code"]', app.at(timezone.now()))
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/account/")
