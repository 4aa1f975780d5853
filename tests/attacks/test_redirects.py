"""Addresses that lead away from our pages, and hosts that are put into links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from django.core.cache import cache
from django.test import Client

from dashboard.models import Role, User
from tests.dashboard.conftest import SignIn

CHEAP = "django.contrib.auth.hashers.MD5PasswordHasher"
GOOD = {"username": "vera", "password": "correct horse battery"}
AWAY = (
    "//evil.example",
    "///evil.example",
    "https://evil.example/",
    "https:evil.example",
    "http:///evil.example",
    "\\\\evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "\t//evil.example",
    " //evil.example",
    "/\t/evil.example",
    "\x01//evil.example",
    "https:/\\evil.example",
    "//evil.example\\@testserver/",
    "https://testserver@evil.example/",
    "https://testserver.evil.example/",
    "javascript:alert(1)",
    "data:text/html,x",
    "//[evil",
    "//evil%E3%80%82example",
)


@pytest.fixture(autouse=True)
def vera(db: None, settings: Any) -> Iterator[User]:
    settings.PASSWORD_HASHERS = [CHEAP]
    cache.clear()
    yield User.objects.create_user(**GOOD, role=Role.VIEWER)
    cache.clear()


def test_nobody_is_led_away_by_signing_in() -> None:
    for away in AWAY:
        client = Client()
        answer = client.post("/sign-in/", {**GOOD, "next": away})
        assert answer["Location"] == "/", away
        # Somebody who is signed in is passed on by the same parameter.
        assert client.get("/sign-in/", {"next": away})["Location"] == "/", away


@pytest.mark.parametrize("path", ["/preferences/", "/language/"])
def test_nobody_is_led_away_by_a_preference(path: str) -> None:
    elsewhere = {"Referer": "https://evil.example/"}
    for away in AWAY:
        fields = {"next": away, "language": "en", "theme": "dark"}
        answer = Client().post(path, fields, headers=elsewhere)
        assert answer["Location"] == "/", away


PATHS_AWAY = (
    "//evil.example",
    "//evil.example/timers",
    "//evil.example/%2e%2e",
    "/\\evil.example/timers",
    "/%5Cevil.example/timers",
    "/%09/evil.example/timers",
    "///evil.example/timers",
)


@pytest.mark.parametrize("path", PATHS_AWAY)
def test_nobody_is_led_away_by_a_path(sign_in: SignIn, path: str) -> None:
    for client in (Client(), sign_in(Role.VIEWER)):
        # The test client takes a path that begins with two slashes for a host.
        answer = client.generic("GET", "/", PATH_INFO=unquote(path))
        location = answer.headers.get("Location", "/")
        assert re.match(r"/(?![/\\\t])", location), location


def test_a_new_line_in_an_address_adds_no_header() -> None:
    fields = {"next": "/\r\nSet-Cookie: a=b", "theme": "dark"}
    answer = Client().post("/preferences/", fields)
    assert "a" not in answer.cookies
    assert "\n" not in answer["Location"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "testserver@evil.example"},
        {"Host": "testserver:evil"},
        {"Host": "testserver evil.example"},
        {"X-Forwarded-Host": "evil.example"},
        {"X-Forwarded-Server": "evil.example"},
        {"Forwarded": "host=evil.example"},
        {"X-Original-URL": "//evil.example/"},
    ],
)
def test_no_sign_in_link_leads_to_another_host(
    sign_in: SignIn, vera: User, headers: dict[str, str]
) -> None:
    client = sign_in(Role.ADMIN)
    answer = client.post(f"/account/users/{vera.pk}/link/", headers=headers)
    assert b"evil" not in answer.content
    assert answer.status_code == (400 if "Host" in headers else 200)
