"""Files that are kept are answered as Django answers them, and by it only once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.contrib.staticfiles import finders

from dashboard.config.handler import page_application
from dashboard.config.kept_assets import KeptAssets, keep_assets

FILE = "css/base.css"
HOST = (b"host", b"127.0.0.1")
PACKED = (b"accept-encoding", b"gzip, br")


class Counted:
    """An application that counts what it is asked."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.paths: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.paths.append(scope["path"])
        await self.application(scope, receive, send)


@pytest.fixture
def django() -> Counted:
    return Counted(page_application())


@pytest.fixture
def kept(django: Counted) -> KeptAssets:
    return KeptAssets(django, settings.STATIC_URL)


async def ask(
    application: Any,
    path: str = settings.STATIC_URL + FILE,
    *more: tuple[bytes, bytes],
    method: str = "GET",
    encoding: tuple[bytes, bytes] = PACKED,
) -> tuple[int, dict[bytes, bytes], bytes]:
    """Return status, headers and body of an answer."""
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "query_string": b"",
        "headers": [HOST, encoding, *more],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
    asked = ApplicationCommunicator(application, scope)
    await asked.send_input({"type": "http.request", "body": b"", "more_body": False})
    start = await asked.receive_output(60)
    body = await asked.receive_output(60)
    await asked.wait(60)
    return start["status"], dict(start["headers"]), body.get("body", b"")


async def test_a_file_is_asked_for_once_and_answered_alike(
    kept: KeptAssets, django: Counted
) -> None:
    first = await ask(kept)
    again = await ask(kept, settings.STATIC_URL + FILE, (b"cookie", b"a=b"))
    assert first == again == await ask(django.application)
    assert first[0] == 200
    assert first[1][b"Content-Encoding"] == b"gzip"
    assert b"Content-Security-Policy" in first[1]
    assert len(django.paths) == 1


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "HEAD"},
        {"method": "POST"},
        {"more": (b"range", b"bytes=0-9")},
        {"more": (b"if-none-match", b'"x"')},
        {"more": (b"accept-encoding", b"br")},
        {"path": "/healthz"},
        {"path": settings.STATIC_URL + "css/none.css"},
        {"path": settings.STATIC_URL + "../manage.py"},
    ],
    ids=str,
)
async def test_whatever_else_is_asked_reaches_django_each_time(
    kept: KeptAssets, django: Counted, asked: dict[str, Any]
) -> None:
    path = asked.get("path", settings.STATIC_URL + FILE)
    more = [asked["more"]] if "more" in asked else []
    method = asked.get("method", "GET")
    for _ in range(2):
        # Bodies of pages differ each time: see dashboard.config.compression.
        status, _headers, _body = await ask(kept, path, *more, method=method)
        alone = await ask(django.application, path, *more, method=method)
        assert status == alone[0]
    assert len(django.paths) == 2


async def test_who_takes_no_compressed_answer_gets_none(kept: KeptAssets) -> None:
    plain = (b"accept-encoding", b"identity")
    for _ in range(2):
        assert (await ask(kept))[1][b"Content-Encoding"] == b"gzip"
        status, headers, body = await ask(kept, encoding=plain)
        assert (status, body) == (200, Path(str(finders.find(FILE))).read_bytes())
        assert b"Content-Encoding" not in headers


async def test_nobody_makes_it_keep_more_by_asking_in_other_words(
    kept: KeptAssets, django: Counted
) -> None:
    path = settings.STATIC_URL + FILE
    for number in range(3):
        word = str(number).encode()
        unknown = ((b"x-number", word), (b"x-forwarded-proto", word))
        await ask(kept, path, *unknown, encoding=(b"accept-encoding", b"gzip," + word))
    assert len(django.paths) == 1


async def test_what_travels_encrypted_says_so_and_nothing_else_does(
    settings: Any,
) -> None:
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.SECURE_HSTS_SECONDS = 60
    kept = KeptAssets(page_application(), settings.STATIC_URL)
    path = settings.STATIC_URL + FILE
    for _ in range(2):
        for value, secure in ((b"https", True), (b"https, http", True), (b"http", 0)):
            answer = await ask(kept, path, (b"x-forwarded-proto", value))
            assert (b"Strict-Transport-Security" in answer[1]) == secure
        assert b"Strict-Transport-Security" not in (await ask(kept))[1]


async def test_what_is_sent_in_parts_is_not_kept() -> None:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        await send({"type": "http.response.body", "body": b"y"})

    counted = Counted(answer)
    for _ in range(2):
        await ask(KeptAssets(counted, settings.STATIC_URL))
    assert len(counted.paths) == 2


async def test_what_sets_a_cookie_is_not_kept() -> None:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"set-cookie", b"a=b")]
        start = {"type": "http.response.start", "status": 200, "headers": headers}
        await send(start)
        await send({"type": "http.response.body", "body": b"x"})

    counted = Counted(answer)
    for _ in range(2):
        await ask(KeptAssets(counted, settings.STATIC_URL))
    assert len(counted.paths) == 2


def test_files_that_may_change_are_not_kept(settings: Any, django: Counted) -> None:
    assert isinstance(keep_assets(django), KeptAssets)
    settings.DEBUG = True
    assert keep_assets(django) is django
