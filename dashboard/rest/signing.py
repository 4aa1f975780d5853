"""Who calls the API: the holder of a token, or a browser that is signed in."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils import timezone
from ninja.errors import AuthenticationError
from ninja.security import HttpBearer
from ninja.security.session import SessionAuth

from dashboard.accounts.middleware import at_place
from dashboard.accounts.pace import count_call
from dashboard.accounts.permissions import user_of
from dashboard.accounts.tokens import use_token
from dashboard.models import Role, Token, User


class TokenAuth(HttpBearer):
    """`Authorization: Bearer rs_…`; a session beside a bad token does not help."""

    def authenticate(self, request: HttpRequest, token: str) -> User:
        user = use_token(token, timezone.now())
        if user is None:
            raise AuthenticationError(message="the token is unknown or has ended")
        assert isinstance(user.limit, Token)  # noqa: S101 - use_token set it
        count_call(user.limit.pk)
        match = request.resolver_match
        request.user = at_place(user, match.kwargs if match else {})
        return _may_look(request)


class BrowserAuth(SessionAuth):
    """The session of a browser; writes need the token of its forms, too."""

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        found = super().authenticate(request, key)
        return None if found is None else _may_look(request)


def _may_look(request: HttpRequest) -> User:
    user = user_of(request)
    if not user.allows(Role.VIEWER):
        raise PermissionDenied(f"{user.get_username()} may not look at this")
    return user
