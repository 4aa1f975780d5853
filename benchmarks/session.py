"""A signed-in browser without a window, for commands that look at pages."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from http.client import HTTPException
from http.cookiejar import CookieJar
from typing import Final
from urllib.parse import urlencode

PATIENCE_S: Final = 120.0
_TOKEN: Final = re.compile(rb'name="csrfmiddlewaretoken" value="([^"]+)"')


class Session:
    """A signed-in browser without a window, which waits so long for each answer."""

    def __init__(self, address: str, patience_s: float = PATIENCE_S) -> None:
        self.address = address
        self._patience_s = patience_s
        self._jar = CookieJar()
        self._opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(self._jar)
        )

    def sign_in(self, link: str) -> None:
        """Follow a one-time link and press its button."""
        with self._opener.open(link, timeout=PATIENCE_S) as page:
            address, text = page.url, page.read()
        token = _TOKEN.search(text)
        if "/sign-in/" in address and token is not None:
            fields = {"csrfmiddlewaretoken": token[1].decode()}
            self._opener.open(
                self._request(address, urlencode(fields).encode()), timeout=PATIENCE_S
            ).close()

    def get(self, path: str) -> tuple[int, bytes]:
        """Return the status and the body of a page; raises `OSError` without one."""
        return self._answer(self._request(self.address + path))

    def post(self, path: str, body: object) -> tuple[int, bytes]:
        """Send JSON; return the status and the answer."""
        return self.send("POST", path, body)

    def send(self, method: str, path: str, body: object) -> tuple[int, bytes]:
        """Send JSON by another method; return the status and the answer."""
        request = self._request(self.address + path, json.dumps(body).encode())
        request.method = method
        request.add_header("Content-Type", "application/json")
        return self._answer(request)

    @property
    def cookies(self) -> str:
        """The cookies as a header, for a socket of the same person."""
        return "; ".join(f"{each.name}={each.value}" for each in self._jar)

    def _request(self, url: str, data: bytes | None = None) -> urllib.request.Request:
        headers = {"Referer": self.address, "Origin": self.address}
        for each in self._jar:
            if "csrf" in each.name and each.value:
                headers["X-CSRFToken"] = each.value
        return urllib.request.Request(url, data, headers)

    def _answer(self, request: urllib.request.Request) -> tuple[int, bytes]:
        try:
            with self._opener.open(request, timeout=self._patience_s) as answer:
                return int(answer.status), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except HTTPException as error:
            raise ConnectionError(f"{request.full_url}: {error!r}") from error
