"""The product as somebody uses it: web process, collector, clock, and a real browser.

What it is attached to is said by the settings; no cluster is embedded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, expect

from dashboard.supervisor import plan

from .browser import PATIENCE_MS, chromium
from .ports import LOOPBACK
from .process import Process
from .web_processes import WebProcesses, running_web

START_MS: Final = 180_000
"""For the first page: a web process listens before it has loaded everything."""


@dataclass(frozen=True, slots=True)
class Product:
    """A running product, and an admin's browser."""

    web: WebProcesses
    browser: Browser

    @property
    def address(self) -> str:
        """The address of its pages, without a slash at the end."""
        return f"http://{LOOPBACK}:{self.web.ports[0]}"

    @contextmanager
    def page(self) -> Iterator[Page]:
        """Open a page of a signed-in admin; its console must stay clean."""
        context = self.browser.new_context(
            base_url=self.address, viewport={"width": 1440, "height": 900}
        )
        context.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        page = context.new_page()
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        link = self.web.manage("sign_in_link").split()[-1]
        page.goto(urlsplit(link).path, timeout=START_MS)
        if "/sign-in/" in page.url:
            page.locator("main button[type=submit]").click()
            page.wait_for_url(lambda url: "/sign-in/" not in url)
        yield page
        context.close()
        assert problems == []


@contextmanager
def running_product(
    folder: Path,
    settings: Mapping[str, str],
    browser: Browser | None = None,
    *,
    fleet: int = 0,
) -> Iterator[Product]:
    """Start it all; everything that it writes is in the folder.

    A browser that runs already has to be given: a thread can drive only one. `fleet`
    workers host members, play labs and resend dead letters.
    """
    with ExitStack() as running:
        web = running.enter_context(running_web(folder, count=1, settings=settings))
        for child in plan.workers(fleet):
            log = folder / f"{child.name}.log"
            process = Process(child.argv, log=log, env=web.env, forked=True)
            running.callback(process.kill)
        yield Product(web, browser or running.enter_context(chromium()))
