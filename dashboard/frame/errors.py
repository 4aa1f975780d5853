"""Error pages: what happened, in words, and where to go next.

A request under /api/ is answered in JSON, as by existing routes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from dashboard.accounts.hashing import TooManyAtOnceError

API_PREFIX: Final = "/api/"
RETRY_SECONDS: Final = 5


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "frame/errors/csrf.html", {"reason": reason}, status=403)


def refused(request: HttpRequest, exception: Exception) -> HttpResponse:
    context = {"reason": str(exception)}
    return render(request, "frame/errors/403.html", context, status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show the reason if one of our views gave it rather than Django's resolver."""
    if request.path.startswith(API_PREFIX):
        return JsonResponse({"detail": f"no resource at {request.path}"}, status=404)
    reason = exception.args[0] if exception.args else ""
    return render(
        request,
        "frame/errors/404.html",
        {"reason": reason if isinstance(reason, str) else ""},
        status=404,
    )


class BusyError(Exception):
    """Too much of one kind is under way; whoever asks can try again soon."""


class BusyMiddleware:
    """Answer 503 when more of something is asked for than is done at once."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponse | None:
        """Follow Django's protocol: None leaves the exception to others."""
        if not isinstance(exception, (TooManyAtOnceError, BusyError)):
            return None
        context = {"is_sign_in": isinstance(exception, TooManyAtOnceError)}
        answer = render(request, "frame/errors/busy.html", context, status=503)
        return _later(answer)


def failed(request: HttpRequest) -> HttpResponse:
    """Answer without touching the database, which may be what failed.

    Called while the error is handled: one of the database itself is told as such.
    """
    if isinstance(sys.exception(), (OperationalError, InterfaceError)):
        return _later(_database_away(request))
    return render(None, "frame/errors/500.html", status=500)


def _database_away(request: HttpRequest) -> HttpResponse:
    if request.path.startswith(API_PREFIX):
        return JsonResponse({"detail": "the database does not answer"}, status=503)
    return render(None, "frame/errors/database.html", status=503)


def _later(answer: HttpResponse) -> HttpResponse:
    answer["Retry-After"] = str(RETRY_SECONDS)
    return answer
