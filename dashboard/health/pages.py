"""Pages for machines: whether the process lives, and whether it can serve.

They require no signing in, so they show no names of groups, topics or users.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from dashboard.live.state import live_state

logger = logging.getLogger(__name__)


@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """Report that this process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def readyz(_request: HttpRequest) -> JsonResponse:
    """Report whether database and cache answer: 200 when both do, else 503."""
    answers = {
        "database": _answers("database", _ask_database),
        "cache": _answers("cache", _ask_cache),
    }
    ready = all(answers.values())
    said = {name: "ok" if answer else "away" for name, answer in answers.items()}
    return JsonResponse({"ready": ready, **said}, status=200 if ready else 503)


def _answers(name: str, ask: Callable[[], object]) -> bool:
    """Tell whether `ask` succeeds; errors go only to the log, as strangers may ask."""
    try:
        ask()
    except (DatabaseError, redis.RedisError) as error:
        logger.warning("not ready, the %s is away: %s", name, error)
        return False
    return True


def _ask_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _ask_cache() -> None:
    if not settings.ROCKETSCOPE_REDIS_URL:
        raise redis.ConnectionError("ROCKETSCOPE_REDIS_URL is not set")
    live_state().client.ping()
