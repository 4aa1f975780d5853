"""Pages that list and end one's own sessions and, for admins, anybody's."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dashboard.accounts.permissions import user_of
from dashboard.models import Role, Session, User

from .browsers import browser_name
from .permissions import requires
from .sessions import digest_of, end_session, end_sessions, sessions_of

OTHERS = "others"


@dataclass(frozen=True, slots=True)
class ShownSession:
    """A row of the table; `is_this` is the one that the page is shown in."""

    row: Session
    browser: str
    is_this: bool


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.VIEWER)
def own_sessions(request: HttpRequest) -> HttpResponse:
    """List one's own sessions; a POST ends one or all others."""
    return _answer(request, user_of(request))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@requires(Role.ADMIN)
def user_sessions(request: HttpRequest, pk: int) -> HttpResponse:
    """List anybody's sessions; a POST ends one or all, but not the admin's own."""
    return _answer(request, get_object_or_404(User, pk=pk))


def _answer(request: HttpRequest, user: User) -> HttpResponse:
    if request.method == "POST":
        return _end(request, user, request.POST.get("end", ""))
    own = _own_digest(request)
    rows = [
        ShownSession(row, browser_name(row.browser), row.pk == own)
        for row in sessions_of(user)
    ]
    return render(
        request,
        "accounts/sessions.html",
        {
            "owner": user,
            "sessions": rows,
            "others": sum(not each.is_this for each in rows),
        },
    )


def _end(request: HttpRequest, user: User, which: str) -> HttpResponse:
    by, number = user_of(request), 1
    if which == OTHERS:
        number = end_sessions(user, by=by, but=request.session.session_key)
    else:
        session = get_object_or_404(sessions_of(user), pk=which)
        end_session(session, by=by)
        if which == _own_digest(request):
            logout(request)
            return redirect("sign_in")
    said = ngettext("%(n)s session is ended.", "%(n)s sessions are ended.", number)
    messages.success(request, said % {"n": number})
    return redirect(request.path)


def _own_digest(request: HttpRequest) -> str:
    return digest_of(request.session.session_key or "")
