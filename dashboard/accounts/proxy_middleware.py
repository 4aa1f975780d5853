"""Signs in whom a trusted proxy names, and lets their session count for no one else.

A session that began in this way counts only while the proxy names the same person with
the same groups. Without the header its cookie is a stranger's, so that it is worth
nothing past the proxy.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from django.contrib.auth import login
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.functional import SimpleLazyObject

from dashboard.models import User
from dashboard.models.audit import SIGN_IN

from .attempts import address_of, record_refusal, record_sign
from .identities import NotLetInError, let_in
from .outside import Person
from .proxy import ProxyHeaderError, person_of

logger = logging.getLogger(__name__)

NAMED: Final = "named_by_proxy"
"""Where a session keeps of whom, and of which groups, it is."""
_API: Final = "/api/"


class ProxyMiddleware:
    """Follows Django's protocol; stands right behind the one that finds the user."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            person = person_of(getattr(request, "scope", None))
        except ProxyHeaderError as error:
            logger.warning("the proxy's headers are refused: %s", error)
            return _refused(request, "", 400)
        if person is None:
            found = request.user
            # Not before it is asked for: whoever asks is told with `Vary`.
            request.user = SimpleLazyObject(partial(_unnamed, request, found))  # type: ignore[assignment]
        elif request.session.get(NAMED) != mark_of(person):
            return self._signed_in(request, person)
        return self.get_response(request)

    def _signed_in(self, request: HttpRequest, person: Person) -> HttpResponse:
        # A program's token says who it acts for.
        if request.headers.get("Authorization", "").startswith("Bearer "):
            return self.get_response(request)
        try:
            user = let_in(person)
        except NotLetInError as error:
            logger.info("whom the proxy names is refused: %s", error)
            record_refusal(SIGN_IN, person.name, address_of(request))
            return _refused(request, person.name, 403)
        login(request, user, backend="django.contrib.auth.backends.ModelBackend")
        request.session[NAMED] = mark_of(person)
        record_sign(SIGN_IN, request, {"issuer": person.issuer})
        return self.get_response(request)


def _unnamed(request: HttpRequest, found: User | AnonymousUser) -> User | AnonymousUser:
    return found if request.session.get(NAMED) is None else AnonymousUser()


def mark_of(person: Person | None) -> str | None:
    """Return what a session keeps of a person whom a proxy named; None for nobody."""
    if person is None:
        return None
    said = "\0".join([person.subject, *sorted(person.groups)])
    return hashlib.sha256(said.encode()).hexdigest()


def counts(scope: Mapping[str, Any], session: Mapping[str, Any]) -> bool:
    """Whether a socket's session is of whom the proxy names now, if it names anybody.

    Pages were loaded before, which is when people are signed in.
    """
    try:
        return mark_of(person_of(scope)) == session.get(NAMED)
    except ProxyHeaderError:
        return False


def _refused(request: HttpRequest, name: str, status: int) -> HttpResponse:
    if request.path.startswith(_API):
        detail = f"the proxy names {name!r}, who has no right here"
        if status == 400:
            detail = "the proxy's headers do not name one person"
        return JsonResponse({"detail": detail}, status=status)
    context = {"name": name}
    return render(request, "accounts/proxy_refused.html", context, status=status)
