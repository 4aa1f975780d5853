"""The whole stack, started once, and a browser that looks at it."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.support import quiet_demo
from tests.support.browser import PATIENCE_MS, chromium, find_chromium
from tests.support.launched import LaunchedStack


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LaunchedStack]:
    running = LaunchedStack(
        tmp_path_factory.mktemp("stack"),
        command=(sys.executable, "-m", quiet_demo.__name__),
    )
    yield running
    running.stop()


# The synchronous Playwright keeps an event loop running in this thread: it must have
# ended before a test of another package asks for a loop of its own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if find_chromium() is None:
        pytest.skip("Chromium is not installed")
    with chromium() as running:
        yield running


@pytest.fixture(scope="package")
def signed_in(browser: Browser, stack: LaunchedStack) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(stack.sign_in_link())
    if "/sign-in/" in page.url:
        page.locator("main button[type=submit]").click()
        page.wait_for_url(lambda url: "/sign-in/" not in url)
    page.close()
    yield context
    context.close()


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    opened = signed_in.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on(
        "console",
        lambda message: (
            problems.append(message.text) if message.type == "error" else None
        ),
    )
    yield opened
    opened.close()
    assert problems == [], "the browser's console must stay clean"
