"""Error pages: what happened, in words, and where to go next.

A request under /api/ is answered in JSON, as by existing routes.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from dashboard.accounts.hashing import TooManyAtOnceError
from dashboard.wording.links import API_PREFIX

from .not_there import NotThereError
from .outages import outage_of

logger = logging.getLogger(__name__)

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
    if isinstance(exception, NotThereError):
        return _not_there(request, exception)
    reason = exception.args[0] if exception.args else ""
    return render(
        request,
        "frame/errors/404.html",
        {"reason": reason if isinstance(reason, str) else ""},
        status=404,
    )


def _not_there(request: HttpRequest, error: NotThereError) -> HttpResponse:
    """Show what may be meant, with the navigation of the cluster around it."""
    context = {
        "cluster": error.cluster,
        "name": error.name,
        "why": error.why,
        "near": error.near,
        "all_of_them": error.all_of_them,
    }
    return render(request, "frame/not_there.html", context, status=404)


class BusyError(Exception):
    """Too much of one kind is under way; the caller can try again soon."""


class BusyMiddleware:
    """Answer 503 when too much is asked for at once, or something needed is away."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(
        self, request: HttpRequest, exception: Exception
    ) -> HttpResponse | None:
        """Follow Django's protocol: None leaves the exception to others."""
        outage = outage_of(exception)
        if outage is not None:
            logger.warning("path=%s not answered: %s", request.path, exception)
            return _away(request, outage)
        if not isinstance(exception, (TooManyAtOnceError, BusyError)):
            return None
        context = {"is_sign_in": isinstance(exception, TooManyAtOnceError)}
        answer = render(request, "frame/errors/busy.html", context, status=503)
        return _later(answer)


def failed(request: HttpRequest) -> HttpResponse:
    """Answer without touching the database, which may be what failed.

    Called while an error is handled, which may have happened before a view was reached,
    for example when the session was read.
    """
    error = sys.exception()
    outage = outage_of(error) if isinstance(error, Exception) else None
    if outage is not None:
        return _away(request, outage)
    if request.path.startswith(API_PREFIX):
        # What failed is in the log of the web process: it may name what is secret.
        told = f"RocketScope failed at {request.path}; its log says why"
        return JsonResponse({"detail": told}, status=500)
    return render(None, "frame/errors/500.html", status=500)


def _away(request: HttpRequest, outage: str) -> HttpResponse:
    if request.path.startswith(API_PREFIX):
        return _later(JsonResponse({"detail": outage}, status=503))
    # Without the request: its user and clusters come from the database.
    context = {"outage": outage}
    return _later(render(None, "frame/errors/outage.html", context, status=503))


def _later(answer: HttpResponse) -> HttpResponse:
    answer["Retry-After"] = str(RETRY_SECONDS)
    return answer
