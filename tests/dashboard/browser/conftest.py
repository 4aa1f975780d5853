"""A real Chromium on our pages, served with their sockets by uvicorn in this process.

Browser and server share the test's event loop, so that both end with the test and use
its database. Whatever shows in the browser's console is a failure: a broken
content-security policy shows itself there.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import redis
import uvicorn
from channels.layers import get_channel_layer
from django.test import Client
from playwright.async_api import BrowserContext, Page, async_playwright, expect

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
from tests.support.browser import _ARGUMENTS, PATIENCE_MS, find_chromium
from tests.support.drawing import check_no_hole
from tests.support.process import Process
from tests.support.valkey import Valkey

from .stocked import Stocked, stocked

START_SECONDS = 60.0

Open = Callable[..., Awaitable[Page]]
Publish = Callable[..., Awaitable[None]]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder, before they are grouped by their marks."""
    for item in items:
        if "/dashboard/browser/" not in item.path.as_posix():
            continue
        item.add_marker(pytest.mark.browser)
        if find_chromium() is None:
            item.add_marker(pytest.mark.skip(reason="Chromium is not installed"))


@pytest.fixture
def cluster(transactional_db: None, valkey: Valkey, settings: Any) -> ClusterSettings:
    found = ClusterSettings("hangzhou", ("10.20.6.1:9876",), writes=True)
    settings.ROCKETSCOPE_CLUSTERS = {found.name: found}
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    sync_clusters(settings.ROCKETSCOPE_CLUSTERS)
    return found


@pytest.fixture
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


@pytest.fixture
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


@pytest.fixture
async def address(cluster: ClusterSettings) -> AsyncIterator[str]:
    """The address of our pages."""
    config = uvicorn.Config(
        application,
        port=0,
        lifespan="off",
        log_config=None,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    await serving
    # What a page that was closed while it asked has left open is found here, where
    # the test's own filter knows of it, and not when all tests are over.
    gc.collect()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The debugging address of one Chromium for all tests of this folder."""
    folder = tmp_path_factory.mktemp("chromium")
    process = Process(
        [
            str(find_chromium()),
            *("--headless", "--remote-debugging-port=0"),
            *(f"--user-data-dir={folder}", *_ARGUMENTS),
        ],
        log=folder / "chromium.log",
    )
    written = folder / "DevToolsActivePort"
    deadline = time.monotonic() + START_SECONDS
    while not (written.exists() and written.read_text().count("\n")):
        if time.monotonic() > deadline or not process.running:
            raise RuntimeError(f"Chromium did not start:\n{process.tail()}")
        time.sleep(0.05)
    yield f"http://127.0.0.1:{written.read_text().split()[0]}"
    process.kill()


@pytest.fixture
async def open_page(chromium: str, address: str, session: str) -> AsyncIterator[Open]:
    """Open a page as the operator; at the end no console may have complained."""
    problems: list[str] = []
    expect.set_options(timeout=PATIENCE_MS)

    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(
            chromium, timeout=PATIENCE_MS
        )
        contexts: list[BrowserContext] = []

        async def open_(
            path: str, *, width: int = 1440, lang: str = "en", refused: bool = False
        ) -> Page:
            """`refused` says that the server will refuse something in this test."""
            context = await browser.new_context(
                viewport={"width": width, "height": 900},
                locale=lang,
                reduced_motion="reduce",
            )
            contexts.append(context)
            await context.add_cookies(
                [{"name": "rocketscope_session", "value": session, "url": address}]
            )
            page = await context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.on(
                "console",
                lambda message: (
                    problems.append(message.text)
                    if message.type in {"error", "warning"}
                    and not (refused and "status of 4" in message.text)
                    else None
                ),
            )
            await page.goto(address + path)
            return page

        yield open_
        for context in contexts:
            for page in context.pages:
                check_no_hole(await page.locator("body").inner_text())
            await context.close()
        await browser.close()
    assert problems == []
