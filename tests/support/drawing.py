"""Pages as their scripts draw them: the test client's answers, in a real Chromium.

No server runs: what the client got is put into the browser with its headers, static
files come from their folders, and everything else is refused. Sockets find nobody.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from django.contrib.staticfiles import finders
from django.test import Client
from playwright.sync_api import Browser, Page, Route

from .browser import PATIENCE_MS, chromium

_T = TypeVar("_T")
_ORIGIN: Final = "http://localhost"
_STATIC: Final = re.compile(r"^/static/[0-9a-f]{12}/(.+)$")
_HOLE: Final = re.compile(r"NaN|undefined|\[object ")
# What nobody answers here is no fault of the page.
_EXPECTED: Final = ("WebSocket connection to", "Failed to load resource")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A page in which all scripts have run; `content` is its elements, as bytes."""

    page: Page = field(repr=False)
    thread: ThreadPoolExecutor = field(repr=False)

    @property
    def content(self) -> bytes:
        return self._do(self.page.content).encode()

    def text(self, selector: str = "main") -> str:
        """Return what one reads in the first of the elements."""
        return next(iter(self.texts(selector)), "")

    def texts(self, selector: str) -> list[str]:
        """Return what one reads in each of the elements; nothing where it is hidden."""
        script = """all => all.map(each => each.checkVisibility()
          ? each.innerText ?? each.textContent : "")"""
        located = self.page.locator(selector)
        found = self._do(lambda: located.evaluate_all(script))
        return [" ".join(text.split()) for text in found]

    def attributes(self, selector: str, name: str) -> list[str | None]:
        """Return an attribute of each of the elements."""
        script = "(found, name) => found.map(each => each.getAttribute(name))"
        located = self.page.locator(selector)
        return list(self._do(lambda: located.evaluate_all(script, name)))

    def run(self, work: Callable[[Page], _T]) -> _T:
        """Do something with the page, such as a click, in the thread of Playwright."""
        return self._do(lambda: work(self.page))

    def _do(self, work: Callable[[], _T]) -> _T:
        return self.thread.submit(work).result()


class Drawing:
    """One browser for many pages; Playwright's calls have a thread of their own."""

    def __init__(self, browser: Browser, thread: ThreadPoolExecutor) -> None:
        self._browser = browser
        self._thread = thread
        self._problems: list[str] = []

    def draw(self, client: Client, path: str, language: str = "en") -> Drawn:
        """Ask the client for a page and run its scripts."""
        answer = client.get(path, headers={"accept-language": language})
        assert answer.status_code == 200, answer.status_code
        self._problems.clear()
        page = self._thread.submit(self._show, answer, path, language).result()
        assert not self._problems, "; ".join(self._problems)
        drawn = Drawn(page, self._thread)
        check_no_hole(drawn.text())
        return drawn

    def _show(self, answer: Any, path: str, language: str) -> Page:
        for context in self._browser.contexts:
            context.close()
        context = self._browser.new_context(
            viewport={"width": 1440, "height": 900}, locale=language
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self._problems.append(str(error)))
        page.on("console", self._listen)

        def route(asked: Route) -> None:
            wanted = asked.request.url.removeprefix(_ORIGIN).partition("?")[0]
            if asked.request.is_navigation_request():
                asked.fulfill(
                    status=200, headers=dict(answer.headers), body=answer.content
                )
            elif found := _STATIC.match(wanted):
                asked.fulfill(path=_file_of(found[1]))
            elif wanted.startswith("/words/"):
                words = Client().get(wanted)
                asked.fulfill(body=words.content, headers=dict(words.headers))
            else:
                asked.abort()

        context.route("**/*", route)
        page.goto(_ORIGIN + path, wait_until="load")
        return page

    def _listen(self, message: Any) -> None:
        if message.type not in {"error", "warning"}:
            return
        if not message.text.startswith(_EXPECTED):
            self._problems.append(message.text)


def check_no_hole(text: str) -> None:
    """Refuse a page that shows how a script names what it does not have."""
    hole = _HOLE.search(text)
    assert hole is None, f"the page shows {text[max(0, hole.start() - 60) :][:120]!r}"


@contextmanager
def drawing() -> Iterator[Drawing]:
    """Run a Chromium for pages that no server sends."""
    with ThreadPoolExecutor(1, "drawing") as thread:
        running = ExitStack()
        browser = thread.submit(running.enter_context, chromium()).result()
        try:
            yield Drawing(browser, thread)
        finally:
            thread.submit(running.close).result()


def _file_of(name: str) -> Path:
    found = finders.find(name)
    assert isinstance(found, str), f"no static file {name}"
    return Path(found)
