"""Signing in at an OpenID Connect provider: there, and back.

Leaving is a link, not a form: the policy of our pages allows forms only to go to us,
and browsers apply that to where a form is redirected, too. What is kept meanwhile is in
a signed cookie, so that strangers fill no table.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import login
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.models.audit import SIGN_IN

from .attempts import address_of, record_refusal, record_sign
from .identities import NotLetInError, let_in
from .provider import (
    ProviderAwayError,
    ProviderRefusedError,
    arrive,
    farewell,
    leave,
)
from .redirects import back_to

logger = logging.getLogger(__name__)

COOKIE: Final = "rocketscope_leaving"
SECONDS_AWAY: Final = 600
"""How long somebody may take to sign in at the provider."""
MOST_NEXT_CHARS: Final = 1500
ID_TOKEN: Final = "id_token"  # noqa: S105 - the name of a place
"""Where the session keeps the token that ends it at the provider as well."""
_SALT: Final = "rocketscope.leaving"


@never_cache
@require_safe
def start(request: HttpRequest) -> HttpResponse:
    """Send a browser to the provider."""
    _must_be_set_up()
    wanted = request.GET.get("next", "")
    try:
        leaving = leave(request.build_absolute_uri(reverse("provider_return")))
    except (ProviderAwayError, ProviderRefusedError) as error:
        return _away(request, error)
    response = redirect(leaving.address)
    kept = {**leaving.kept, "next": wanted if len(wanted) <= MOST_NEXT_CHARS else ""}
    response.set_cookie(
        COOKIE,
        signing.dumps(kept, salt=_SALT),
        max_age=SECONDS_AWAY,
        path=reverse("provider_start"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


@never_cache
@require_safe
def finish(request: HttpRequest) -> HttpResponse:
    """Let in whoever comes back from the provider, if a group of theirs has a right."""
    _must_be_set_up()
    response = _finished(request)
    response.delete_cookie(COOKIE, path=reverse("provider_start"), samesite="Lax")
    return response


def _finished(request: HttpRequest) -> HttpResponse:
    kept = _kept(request)
    if kept is None:
        return _refused(request, "came")
    try:
        arrival = arrive(kept, request.GET.dict())
    except ProviderAwayError as error:
        return _away(request, error)
    except ProviderRefusedError as error:
        logger.warning("sign-in at the provider refused: %s", error)
        record_refusal(SIGN_IN, "", address_of(request))
        return _refused(request, "came")
    try:
        user = let_in(arrival.person)
    except NotLetInError as error:
        logger.info("sign-in at the provider refused: %s", error)
        record_refusal(SIGN_IN, arrival.person.name, address_of(request))
        return _refused(request, "rights", name=arrival.person.name)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session[ID_TOKEN] = arrival.id_token
    record_sign(SIGN_IN, request, {"issuer": arrival.person.issuer})
    return back_to(request, str(kept["next"]), "home")


def ending_at_provider(request: HttpRequest) -> str | None:
    """Return the address that ends the request's session at the provider, too.

    Empty if that is not how it began, or the provider offers none; None if the provider
    does not answer.
    """
    token = request.session.get(ID_TOKEN)
    if not token or settings.ROCKETSCOPE_OIDC is None:
        return ""
    try:
        return farewell(token, request.build_absolute_uri(reverse("sign_in")))
    except (ProviderAwayError, ProviderRefusedError) as error:
        logger.warning("no sign-out at the provider: %s", error)
        return None


def _kept(request: HttpRequest) -> dict[str, Any] | None:
    try:
        kept = signing.loads(
            request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=SECONDS_AWAY
        )
    except signing.BadSignature:
        return None
    return kept if isinstance(kept, dict) else None


def _must_be_set_up() -> None:
    if settings.ROCKETSCOPE_OIDC is None:
        raise Http404


def _away(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.warning("the provider cannot be asked: %s", error)
    answer = render(request, "accounts/provider_away.html", _context(), status=502)
    answer["Retry-After"] = "5"
    return answer


def _refused(request: HttpRequest, why: str, **more: str) -> HttpResponse:
    context = {**_context(), "why": why, **more}
    return render(request, "accounts/provider_refused.html", context, status=403)


def _context() -> dict[str, Any]:
    return {"provider": settings.ROCKETSCOPE_OIDC}
