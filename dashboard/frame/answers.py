"""What holds for every answer below /api/, whoever made it."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse

from dashboard.wording.links import API_PREFIX, VERSION_HEADER


class ApiMiddleware:
    """Names the version, and words a refused method as other refusals are."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        answer = self.get_response(request)
        if not request.path.startswith(API_PREFIX):
            return answer
        if answer.status_code == 405:
            # An order of its own each time is no help to whoever compares answers.
            allowed = ", ".join(sorted(answer["Allow"].split(", ")))
            told = f"{request.path} takes {allowed}, not {request.method}"
            answer = JsonResponse({"detail": told}, status=405)
            answer["Allow"] = allowed
        answer[VERSION_HEADER] = settings.VERSION
        return answer
