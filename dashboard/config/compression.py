"""Answers are compressed on their way: pages and documents each time, files once.

An attacker who can make a browser ask for a page with text of their choosing, and who
sees how long the answer is, could guess a secret in it from the length (BREACH). So
Django adds up to 100 random bytes to each, and the one secret of our pages, the token
of forms, is masked anew with each answer.
"""

from __future__ import annotations

import re
from typing import Final

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

TEXTS: Final = re.compile(
    r"text/|image/svg\+xml|application/(json|javascript|manifest\+json)"
)
"""Types that shrink; images, archives and reports are compressed already."""

ACCEPTS: Final = re.compile(r"\bgzip\b")


def is_text(response: HttpResponseBase) -> bool:
    """Tell whether an answer is of a type that shrinks."""
    return TEXTS.match(response.get("Content-Type", "")) is not None


def accepts_gzip(request: HttpRequest) -> bool:
    """Tell whether a browser takes compressed answers, as Django decides it."""
    return ACCEPTS.search(request.headers.get("Accept-Encoding", "")) is not None


class TextGZipMiddleware(GZipMiddleware):
    """Compresses texts, for those who accept it."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Return the answer, compressed where that is of use."""
        if response.streaming or not is_text(response):
            return response
        return super().process_response(request, response)
