"""Signing in and out, one's own account, users, and what the browser remembers."""

from __future__ import annotations

from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST
from django.views.i18n import set_language

from . import (
    half_signed_in,
    pages,
    provider_pages,
    right_pages,
    second_factor_pages,
    session_pages,
    token_pages,
)

reads_and_posts = require_http_methods(["GET", "HEAD", "POST"])

urlpatterns = [
    path("account/", pages.account, name="account"),
    path("account/sessions/", session_pages.own_sessions, name="own_sessions"),
    path("account/tokens/", token_pages.own_tokens, name="own_tokens"),
    path(
        "account/second-factor/",
        second_factor_pages.second_factor,
        name="second_factor",
    ),
    path("account/users/", pages.users, name="users"),
    path("account/users/<int:pk>/", pages.change, name="change_user"),
    path("account/users/<int:pk>/link/", pages.make_link, name="make_link"),
    path(
        "account/users/<int:pk>/sessions/",
        session_pages.user_sessions,
        name="user_sessions",
    ),
    path("account/users/<int:pk>/tokens/", token_pages.user_tokens, name="user_tokens"),
    path("account/users/<int:pk>/rights/", right_pages.user_rights, name="user_rights"),
    path(
        "account/users/<int:pk>/second-factor/",
        second_factor_pages.remove_of,
        name="remove_second_factor",
    ),
    path("preferences/", pages.preferences, name="preferences"),
    path("language/", require_POST(set_language), name="language"),
    path("sign-in/", reads_and_posts(pages.SignIn.as_view()), name="sign_in"),
    path("sign-in/code/", half_signed_in.code, name="sign_in_code"),
    path("sign-in/provider/", provider_pages.start, name="provider_start"),
    path("sign-in/provider/return/", provider_pages.finish, name="provider_return"),
    path("sign-in/<str:token>/", pages.sign_in_link, name="sign_in_link"),
    path("sign-out/", pages.SignOut.as_view(), name="sign_out"),
]
