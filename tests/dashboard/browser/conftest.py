"""A real Chromium on our pages, served with their sockets by uvicorn in this process.

Browser and server share one event loop with all tests of this folder, and are started
once. Each test ends with its pages closed and answered, before its database is emptied.
Whatever shows in the browser's console is a failure: a broken
content-security policy shows itself there.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import orjson
import pytest
import pytest_asyncio
import redis
import uvicorn
from channels.layers import get_channel_layer
from django.test import Client
from playwright.async_api import Browser, ConsoleMessage, Page, async_playwright, expect

from dashboard.config.asgi import application
from dashboard.gateway.clusters import sync_clusters
from dashboard.gateway.settings import ClusterSettings
from dashboard.live.kept_overviews import forget_overviews
from dashboard.live.names import (
    live_group_name,
    live_overview_name,
)
from dashboard.models import Role, User
from tests.dashboard.conftest import stored
from tests.support.browser import ARGUMENTS, PATIENCE_MS, find_chromium
from tests.support.drawing import check_no_hole
from tests.support.valkey import Valkey

from .stocked import Stocked, stocked

# Longer than a test, and than the pauses between them.
KEPT_SECONDS = 600

Open = Callable[..., Awaitable[Page]]
Publish = Callable[..., Awaitable[None]]

in_one_loop = pytest_asyncio.fixture(loop_scope="session")
"""A fixture in the event loop that all tests of this folder share."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder, before they are grouped by their marks."""
    for item in items:
        if "/dashboard/browser/" not in item.path.as_posix():
            continue
        item.add_marker(pytest.mark.browser)
        if inspect.iscoroutinefunction(getattr(item, "function", None)):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
        if find_chromium() is None:
            item.add_marker(pytest.mark.skip(reason="Chromium is not installed"))


@pytest.fixture
def cluster(transactional_db: None, valkey: Valkey, settings: Any) -> ClusterSettings:
    found = ClusterSettings("hangzhou", ("10.20.6.1:9876",), writes=True)
    settings.ROCKETSCOPE_CLUSTERS = {found.name: found}
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
    return found


@in_one_loop
async def there(
    cluster: ClusterSettings, valkey: Valkey, settings: Any, tmp_path: Path
) -> AsyncIterator[Stocked]:
    """A cluster with one of everything; `session` has to come after it."""
    async with stocked(valkey, settings, tmp_path) as found:
        yield found


@pytest.fixture
def session(cluster: ClusterSettings) -> str:
    """The session cookie of an admin."""
    client = Client()
    client.force_login(User.objects.create_user("olga", role=Role.ADMIN))
    return str(client.cookies["rocketscope_session"].value)


@pytest.fixture
def write(cluster: ClusterSettings, valkey: Valkey) -> Callable[..., None]:
    """Put documents into the cache, as the collector does."""

    def put(*documents: Any) -> None:
        with redis.Redis(port=valkey.port) as client:
            for document in documents:
                client.mset(stored(document))
        forget_overviews()

    return put


@in_one_loop
async def publish(cluster: ClusterSettings) -> Publish:
    """Send an update to the sockets that watch its group, or its cluster."""

    async def send(update: dict[str, Any]) -> None:
        name, group = update["cluster"], update.get("group")
        layer = live_group_name(name, group) if group else live_overview_name(name)
        kind = "update" if group else "overview"
        text = orjson.dumps({"type": kind, **update}).decode()
        await get_channel_layer().group_send(
            layer, {"type": "live.update", "text": text}
        )

    return send


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def server() -> AsyncIterator[uvicorn.Server]:
    """The one that serves our pages to all tests of this folder."""
    config = uvicorn.Config(
        application,
        port=0,
        lifespan="off",
        log_config=None,
        ws_per_message_deflate=False,
        timeout_keep_alive=KEPT_SECONDS,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    # What there is by now is no test's, and need not be looked through after each.
    gc.collect()
    gc.freeze()
    yield server
    gc.unfreeze()
    server.should_exit = True
    await serving


@in_one_loop
async def address(
    server: uvicorn.Server, cluster: ClusterSettings
) -> AsyncIterator[str]:
    """The address of our pages."""
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    # Answers that nobody waits for any more still use the test's database. A page that
    # was left open has a socket, and asks on: without a bound that would take for ever.
    async with asyncio.timeout(PATIENCE_MS / 1000):
        while asked := tuple(server.server_state.tasks):
            await asyncio.wait(asked)
    # What a page that was closed while it asked has left open is found here, where
    # the test's own filter knows of it, and not when all tests are over.
    gc.collect()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One Chromium for all tests of this folder."""
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium(), args=list(ARGUMENTS), timeout=PATIENCE_MS
        )
        yield browser
        await browser.close()


class Pages:
    """Pages of a browser, each in a context of its own, used by one test after another.

    What a page has loaded and compiled of our scripts need not be loaded and compiled
    again. All else that a test can leave behind is taken away: ours keep nothing in
    the browser but cookies.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[str, list[Page]] = {}

    @asynccontextmanager
    async def lent(self, lang: str, *, fresh: bool = False) -> AsyncIterator[Page]:
        """Lend a page to one at a time; a fresh one has loaded nothing before."""
        free = self._free.setdefault(lang, [])
        if free and not fresh:
            page = free.pop()
        else:
            context = await self._browser.new_context(
                locale=lang, reduced_motion="reduce"
            )
            page = await context.new_page()
            page.set_default_timeout(PATIENCE_MS)
        try:
            yield page
        except BaseException:
            await page.context.close()
            raise
        if fresh or page.is_closed():
            await page.context.close()
            return
        for other in page.context.pages[1:]:
            await other.close()
        # After an empty page, Chromium would open the next address in a new process.
        if page.url.startswith("http"):
            await page.goto(urljoin(page.url, "/healthz"))
        await page.mouse.move(0, 0)
        await page.emulate_media(color_scheme="light")
        await page.unroute_all()
        await page.context.unroute_all()
        await page.context.clear_cookies()
        free.append(page)


@pytest.fixture(scope="session")
def pages(browser: Browser) -> Pages:
    return Pages(browser)


@in_one_loop
async def open_page(pages: Pages, address: str, session: str) -> AsyncIterator[Open]:
    """Open a page as the operator; at the end no console may have complained."""
    problems: list[str] = []
    opened: list[Page] = []
    async with AsyncExitStack() as at_the_end:

        async def open_(
            path: str,
            *,
            width: int = 1440,
            lang: str = "en",
            refused: bool = False,
            fresh: bool = False,
        ) -> Page:
            """`refused` says that the server will refuse something in this test.

            `fresh` asks for a first visit, in a profile of its own.
            """

            def fail(error: object) -> None:
                problems.append(str(error))

            def listen(message: ConsoleMessage) -> None:
                if message.type in {"error", "warning"} and not (
                    refused and "status of 4" in message.text
                ):
                    problems.append(message.text)

            page = await at_the_end.enter_async_context(pages.lent(lang, fresh=fresh))
            opened.append(page)
            for name, listener in (("pageerror", fail), ("console", listen)):
                page.on(name, listener)  # type: ignore[call-overload]
                at_the_end.callback(page.remove_listener, name, listener)
            await page.context.add_cookies(
                [{"name": "rocketscope_session", "value": session, "url": address}]
            )
            await page.set_viewport_size({"width": width, "height": 900})
            await page.goto(address + path)
            return page

        yield open_
        for page in opened:
            for each in page.context.pages:
                check_no_hole(await each.locator("body").inner_text())
    assert problems == []
