"""Texts are compressed for those who accept it, and lengths tell nothing of secrets."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from django.http import FileResponse, HttpResponse, HttpResponseBase
from django.test import Client, RequestFactory

from dashboard.config.assets import without_comments
from dashboard.config.compression import TextGZipMiddleware

LONG = b"<p>text that shrinks</p>" * 100
GZIP = {"Accept-Encoding": "br, gzip"}


def answered(response: HttpResponseBase, **headers: str) -> HttpResponseBase:
    request = RequestFactory().get("/", headers=headers or GZIP)
    return TextGZipMiddleware(lambda _request: response)(request)  # type: ignore[return-value, arg-type]


@pytest.mark.parametrize(
    ("kind", "shrinks"),
    [
        ("text/html; charset=utf-8", True),
        ("text/csv", True),
        ("application/json", True),
        ("image/svg+xml", True),
        ("application/zip", False),
        ("application/pdf", False),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", False),
        ("image/png", False),
        ("font/woff2", False),
        ("", False),
    ],
)
def test_texts_are_compressed_and_files_are_not(kind: str, shrinks: bool) -> None:
    answer = answered(HttpResponse(LONG, content_type=kind))
    assert isinstance(answer, HttpResponse)
    assert (answer.get("Content-Encoding") == "gzip") is shrinks
    content = gzip.decompress(answer.content) if shrinks else answer.content
    assert content == LONG


def test_who_does_not_accept_it_gets_it_as_it_is() -> None:
    answer = answered(HttpResponse(LONG), **{"Accept-Encoding": "identity"})
    assert isinstance(answer, HttpResponse)
    assert answer.content == LONG
    assert answer["Vary"] == "Accept-Encoding"


def test_streams_are_left_alone(tmp_path: Any) -> None:
    path = tmp_path / "long.csv"
    path.write_bytes(LONG)
    with path.open("rb") as file:
        answer = answered(FileResponse(file, content_type="text/csv"))
        assert "Content-Encoding" not in answer.headers


def test_the_length_of_the_same_page_varies() -> None:
    lengths = set()
    for _ in range(40):
        answer = answered(HttpResponse(LONG))
        assert isinstance(answer, HttpResponse)
        lengths.add(len(answer.content))
    assert len(lengths) > 5


def test_a_page_and_its_files_are_compressed(db: None, settings: Any) -> None:
    client = Client(headers=GZIP)
    plain = Client()
    base = settings.STATIC_URL
    for path in ("/sign-in/", f"{base}css/base.css", f"{base}js/frame/morph.js"):
        small, whole = client.get(path), plain.get(path)
        assert small.status_code == whole.status_code == 200, path
        assert small["Content-Encoding"] == "gzip", path
        assert "Accept-Encoding" in small["Vary"], path
        assert "Accept-Encoding" in whole["Vary"], path
        assert len(small.content) < len(whole.content), path
        if path.startswith(base):
            assert gzip.decompress(small.content) == without_comments(whole.content)
            assert int(small["Content-Length"]) == len(small.content)


def test_a_part_of_a_file_is_not_compressed(settings: Any) -> None:
    path = f"{settings.STATIC_URL}css/base.css"
    answer = Client(headers={**GZIP, "Range": "bytes=0-9"}).get(path)
    assert answer.status_code == 206
    assert "Content-Encoding" not in answer.headers
    assert answer.content == Client().get(path).content[:10]


def test_a_file_that_is_known_already_is_not_sent_again(settings: Any) -> None:
    path = f"{settings.STATIC_URL}css/base.css"
    client = Client(headers=GZIP)
    known = client.get(path)["Last-Modified"]
    answer = client.get(path, headers={"If-Modified-Since": known})
    assert (answer.status_code, answer.content) == (304, b"")
