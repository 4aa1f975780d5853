"""What every answer gets: the user's time zone, and headers that keep it private."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

ZONE_COOKIE = "rocketscope_zone"


class TimeZoneMiddleware:
    """Activate the zone named by the cookie; an unknown name changes nothing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        zone = chosen_zone(request)
        if zone is None:
            return self.get_response(request)
        with timezone.override(zone):
            return self.get_response(request)


def chosen_zone(request: HttpRequest) -> ZoneInfo | None:
    name = request.COOKIES.get(ZONE_COOKIE, "")
    if not name or len(name) > 64:
        return None
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return None


class PrivateMiddleware:
    """Let no browser or proxy keep an answer that does not say it may be kept.

    After signing out, the button "back" would otherwise show what was there.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response
