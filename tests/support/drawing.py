"""Pages as their scripts draw them: the test client's answers, in a real Chromium.

The program does not serve them: a small server gives the browser what the client got,
with its headers, and static files from their folders, and hangs up on everything else.
Sockets find nobody.
"""

from __future__ import annotations

import mimetypes
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, TypeVar

from django.contrib.staticfiles import finders
from django.test import Client
from playwright.sync_api import Browser, Page

from .browser import PATIENCE_MS, chromium

_T = TypeVar("_T")
_EMPTY: Final = "/empty"
"""Shown between two pages: after one of another origin, Chromium starts a process."""
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


class _Server(ThreadingHTTPServer):
    """Serves one page at a time, and static files, which the browser keeps."""

    daemon_threads = False
    """Closing waits for the connections, which the browser's end has ended."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.origin = f"http://127.0.0.1:{self.server_port}"
        self.page: tuple[str, Any] = ("", None)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        at, answer = self.server.page
        path = self.path.partition("?")[0]
        # Scripts may ask for the page's own address, too: for a part of it.
        if path == _EMPTY:
            self._answer(b"", {"Content-Type": "text/plain"})
        elif self.path == at and self.headers["Sec-Fetch-Mode"] == "navigate":
            self._answer(answer.content, dict(answer.headers))
        elif found := _STATIC.match(path):
            file = _file_of(found[1])
            kind = mimetypes.guess_type(file)[0] or "application/octet-stream"
            kept = {"Content-Type": kind, "Cache-Control": "max-age=86400, immutable"}
            self._answer(file.read_bytes(), kept)
        elif path.startswith("/words/"):
            words = Client().get(path)
            self._answer(words.content, dict(words.headers))
        else:
            self.close_connection = True

    def do_POST(self) -> None:
        self.close_connection = True

    def _answer(self, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(200)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the page's own console tells what matters."""


class Drawing:
    """One browser for many pages; Playwright's calls have a thread of their own."""

    def __init__(
        self, browser: Browser, server: _Server, thread: ThreadPoolExecutor
    ) -> None:
        self._browser = browser
        self._server = server
        self._thread = thread
        self._problems: list[str] = []
        self._pages: dict[str, Page] = {}

    def draw(self, client: Client, path: str, language: str = "en") -> Drawn:
        """Ask the client for a page and run its scripts."""
        answer = client.get(path, headers={"accept-language": language})
        assert answer.status_code == 200, answer.status_code
        page = self._thread.submit(self._show, answer, path, language).result()
        assert not self._problems, "; ".join(self._problems)
        drawn = Drawn(page, self._thread)
        check_no_hole(drawn.text())
        return drawn

    def _show(self, answer: Any, path: str, language: str) -> Page:
        page = self._page(language)
        self._server.page = (path, answer)
        page.goto(self._server.origin + path, wait_until="load")
        return page

    def _page(self, language: str) -> Page:
        """Return one in which nothing is left of other tests but static files.

        A page that is used again need not load and compile the same scripts again, and
        takes half of the processor time.
        """
        page = self._pages.get(language)
        if page is None or page.is_closed():
            context = self._browser.new_context(locale=language)
            page = self._pages[language] = context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.on("pageerror", lambda error: self._problems.append(str(error)))
            page.on("console", self._listen)
        page.unroute_all()
        page.goto(self._server.origin + _EMPTY)
        page.mouse.move(0, 0)
        page.set_viewport_size({"width": 1440, "height": 900})
        page.context.clear_cookies()
        page.context.clear_permissions()
        self._problems.clear()
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
        server = _Server()
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield Drawing(browser, server, thread)
        finally:
            thread.submit(running.close).result()
            server.shutdown()
            serving.join()
            server.server_close()


def _file_of(name: str) -> Path:
    found = finders.find(name)
    assert isinstance(found, str), f"no static file {name}"
    return Path(found)
