"""Between the right password and the code: a signed cookie, which opens nothing else.

There is no session yet, so that no page, call or socket can take it for one. The cookie
counts for five minutes, for one user, and only while their password stays the same.
"""

from __future__ import annotations

import hashlib
from typing import Final

from django.conf import settings
from django.contrib.auth import login
from django.core import signing
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dashboard.models import User
from dashboard.models.audit import SIGN_IN

from .attempts import address_of, record_sign
from .forms import CodeForm
from .redirects import back_to
from .second_factor import is_asked_of, use_code

COOKIE: Final = "rocketscope_half"
SECONDS: Final = 300
TYPED: Final = "directory_name"
"""Of the session of somebody of the directory: the name that they typed."""
MOST_NEXT_CHARS: Final = 1500
_SALT: Final = "rocketscope.half-signed-in"


def ask_for_code(user: User, wanted: str, typed: str = "") -> HttpResponse:
    """Send somebody whose password is right to the page that asks for a code.

    `typed` is the name that they gave, by which a directory knows them.
    """
    response = redirect("sign_in_code")
    wanted = wanted if len(wanted) <= MOST_NEXT_CHARS else ""
    response.set_cookie(
        COOKIE,
        signing.dumps([user.pk, _mark_of(user), wanted, typed], salt=_SALT),
        max_age=SECONDS,
        path=reverse("sign_in_code"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def code(request: HttpRequest) -> HttpResponse:
    """Ask whoever has given the right password for a code, and let them in."""
    user, wanted, typed = _kept(request)
    if user is None:
        return render(request, "accounts/sign_in_code.html", {}, status=400)
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            use_code(
                user,
                form.cleaned_data["code"],
                address=address_of(request),
                now=timezone.now(),
            )
        except ValidationError as error:
            form.add_error("code", error)
        else:
            return _let_in(request, user, wanted, typed)
    return render(request, "accounts/sign_in_code.html", {"form": form})


def _let_in(request: HttpRequest, user: User, wanted: str, typed: str) -> HttpResponse:
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    record_sign(
        SIGN_IN, request, {**remember(request, user, typed), "second_factor": "code"}
    )
    response = back_to(request, wanted, "home")
    response.delete_cookie(COOKIE, path=reverse("sign_in_code"), samesite="Lax")
    return response


def remember(request: HttpRequest, user: User, typed: str) -> dict[str, str]:
    """Keep by which name a directory knows somebody; return what the audit says of it.

    It is asked with that name again when they have to prove their password.
    """
    if not user.is_from_outside:
        return {}
    request.session[TYPED] = typed
    return {"issuer": user.identity.issuer}


def _kept(request: HttpRequest) -> tuple[User | None, str, str]:
    """Return who has given the right password, where they want to go, and their name
    as they typed it."""
    try:
        user_id, mark, wanted, typed = signing.loads(
            request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=SECONDS
        )
    except (signing.BadSignature, ValueError, TypeError):
        return None, "", ""
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None or not constant_time_compare(mark, _mark_of(user)):
        return None, "", ""
    return (user if is_asked_of(user) else None), wanted, typed


def _mark_of(user: User) -> str:
    """Return what changes with the password."""
    return hashlib.sha256(user.get_session_auth_hash().encode()).hexdigest()
