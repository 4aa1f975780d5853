"""What every request gets: its place, the user's time zone, and private answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from dashboard.models import User

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


class PlaceMiddleware:
    """Bind the user to the cluster and the group that the address names.

    Whatever a view then asks of the user's rights is answered for that place. Which
    names an address has is known only when its view has been found.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: object, args: object, kwargs: dict[str, Any]
    ) -> None:
        request.user = SimpleLazyObject(partial(at_place, request.user, kwargs))  # type: ignore[assignment]


def at_place(
    user: User | AnonymousUser, named: Mapping[str, Any]
) -> User | AnonymousUser:
    """Return the user, bound to the `cluster` and the `group` of an address."""
    if not isinstance(user, User):
        return user
    return user.at(named.get("cluster"), named.get("group"))


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
