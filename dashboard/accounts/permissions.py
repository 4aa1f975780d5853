"""Who may see and do what: a decorator for views and a question for everyone else.

A viewer reads, an operator changes what groups do, an admin changes settings and
users. Strangers are sent to the sign-in page; a role that is too low gets a 403 page
which names the role needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast

from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _

from dashboard.models import Role, User

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


def allows(user: User | AnonymousUser, role: Role) -> bool:
    """Say whether `user` is signed in, active and may do what `role` may."""
    return isinstance(user, User) and user.allows(role)


def requires(role: Role, *, anywhere: bool = False) -> Callable[[View[P]], View[P]]:
    """Let a view run only for users who may do what `role` may.

    What counts is the place that the address names. `anywhere` is for addresses that
    name none while the request does: whoever has the role at some place passes, and
    what the view calls has to check the place.
    """

    def decorate(view: View[P]) -> View[P]:
        @wraps(view)
        def guarded(
            request: HttpRequest, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return refuse_stranger(request)
            user = user_of(request)
            if not (user.allows_somewhere(role) if anywhere else user.allows(role)):
                raise PermissionDenied(lacks(user, role))
            return view(request, *args, **kwargs)

        return cast("View[P]", guarded)

    return decorate


def lacks(user: User, role: Role) -> str:
    """Return the sentence for a user whose role, at the place at hand, is too low."""
    own = user.role_here
    words = {"role": role.label, "own": own.label if own else ""}
    if own is None:
        return _("This needs the role “%(role)s”, you have none here.") % words
    return _("This needs the role “%(role)s”, you have “%(own)s”.") % words


def user_of(request: HttpRequest) -> User:
    """Return the user who asks; only for views that require somebody signed in."""
    assert isinstance(request.user, User)  # noqa: S101
    return request.user


def refuse_stranger(request: HttpRequest) -> HttpResponse:
    """Redirect to the sign-in page; answer a request for a fragment with 401."""
    if request.headers.get("X-Fragment"):
        return HttpResponse(status=401)
    return redirect_to_login(request.get_full_path())
