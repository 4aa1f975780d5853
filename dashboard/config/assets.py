"""Static files as they are served: whole, compressed, and without comments."""

from __future__ import annotations

import gzip
import re
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]

from .compression import accepts_gzip, is_text

_COMMENT: Final = re.compile(
    rb"^[ \t]*(?:/\*(?:(?!\*/)(?s:.))*\*/[ \t]*|//[^\n]*)\n", re.MULTILINE
)


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise that answers with whole bodies.

    Its own answer streams from a file with a synchronous iterator, which ASGI has to
    gather anyway and warns about each time.
    """

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        body = b""
        if found.file is not None:
            with found.file as file:
                body = file.read()
        response = HttpResponse(body, status=int(found.status))
        del response["content-type"]
        for key, value in found.headers:
            response[key] = value
        if is_text(response) and response.status_code == HTTPStatus.OK and body:
            _compress(request, response, str(found.file.name))
        return response


def _compress(request: HttpRequest, response: HttpResponse, path: str) -> None:
    """Give the compressed bytes of a file instead of its own."""
    patch_vary_headers(response, ("Accept-Encoding",))
    if accepts_gzip(request):
        response.content = _compressed(path)
        response["Content-Encoding"] = "gzip"
        response["Content-Length"] = str(len(response.content))
        if "ETag" in response:
            response["ETag"] = "W/" + response["ETag"].removeprefix("W/")


@cache
def _compressed(path: str) -> bytes:
    """Compress a file, once: some 600 kB for all that pages name."""
    content = Path(path).read_bytes()
    if Path(path).suffix in {".js", ".css"} and "vendor" not in Path(path).parts:
        content = without_comments(content)
    return gzip.compress(content, mtime=0)


def without_comments(text: bytes) -> bytes:
    """Leave out comments that have lines of their own: a fifth of what is sent.

    Our scripts have no text of several lines that looks like one.
    """
    return _COMMENT.sub(b"", text)
