"""Lets those who have to set up a second factor do nothing else before.

To all other pages, to the REST API and to sockets they are strangers, so that nothing
can forget to ask. Calls with a token are a program's, which has no second factor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from dashboard.models import User

from .second_factor import is_due

OPEN: Final = frozenset({"second_factor", "sign_out"})
DUE: Final = "rocketscope.second_factor_due"
"""Notes for a request that its stranger is somebody who has to set one up."""


class SecondFactorMiddleware:
    """Follows Django's protocol; stands behind those that find the user."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.ROCKETSCOPE_SIGN_IN_SECOND_FACTOR == "required":
            found = request.user
            # Not before it is asked for: the address is resolved only later.
            request.user = SimpleLazyObject(partial(_counted, request, found))  # type: ignore[assignment]
        return self.get_response(request)


def _counted(request: HttpRequest, found: User | AnonymousUser) -> User | AnonymousUser:
    if not is_due(found):
        return found
    place = request.resolver_match
    if place is not None and place.url_name in OPEN:
        return found
    request.META[DUE] = True
    return AnonymousUser()


def is_due_for(request: HttpRequest) -> bool:
    """Whether whoever asks is a stranger only until they have set one up."""
    return not request.user.is_authenticated and DUE in request.META
