"""Requests are read as UTF-8, or not at all.

A request may name any character set of Python's, and Django reads its fields and its
query by it. Some of these yield texts that no database can hold, such as halves of
surrogate pairs, and some do not decode to text at all: each would end in an internal
error.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


class Utf8Middleware:
    """Answer 415 to a request that names a character set other than UTF-8."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # Django accepts only character sets that Python knows.
        if request.encoding and codecs.lookup(request.encoding).name != "utf-8":
            return HttpResponse(
                "requests are read as UTF-8 only\n",
                content_type="text/plain",
                status=415,
            )
        return self.get_response(request)
