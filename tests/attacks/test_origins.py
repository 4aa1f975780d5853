"""Sockets that another page than ours opens in a browser that is signed in to us."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings as django_settings
from django.test import Client

from dashboard.config.asgi import application
from dashboard.models import Role, User
from tests.support.sockets import SocketTalk

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("valkey"),
]


def cookie() -> str:
    client = Client()
    client.force_login(
        User.objects.create_user(f"vera{User.objects.count()}", role=Role.VIEWER)
    )
    name = django_settings.SESSION_COOKIE_NAME
    return f"{name}={client.cookies[name].value}"


async def is_taken(origin: str, *, host: str = "localhost:8300", **extra: Any) -> bool:
    headers = [("host", host), ("cookie", await sync_to_async(cookie)())]
    headers += [("origin", origin)] if origin else []
    encoded = [(name.encode(), value.encode()) for name, value in headers]
    socket = SocketTalk(application, "/ws/live/", headers=encoded, **extra)
    taken = await socket.connect()
    if taken:
        await socket.disconnect()
    return taken


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost:9999",
        "http://localhost",
        "https://localhost:8300",
        "http://127.0.0.1:8300",
        "http://evil.example",
        "http://localhost:8300.evil.example",
        "http://localhost:x",
        "null",
        "",
    ],
)
async def test_a_page_of_another_origin_gets_no_socket(origin: str) -> None:
    assert not await is_taken(origin)


async def test_our_own_page_gets_one() -> None:
    assert await is_taken("http://localhost:8300", scheme="ws")


async def test_the_ports_of_the_schemes_need_not_be_named() -> None:
    assert await is_taken("http://localhost", host="localhost:80", scheme="ws")
    assert not await is_taken("http://localhost:443", host="localhost", scheme="ws")


async def test_behind_a_proxy_with_tls_the_scheme_is_the_browsers() -> None:
    assert await is_taken("https://localhost", host="localhost", scheme="wss")
    assert not await is_taken("http://localhost", host="localhost", scheme="wss")


async def test_a_host_that_is_not_ours_is_no_origin_of_ours() -> None:
    """A name of the attacker's that resolves to our address."""
    assert not await is_taken("http://evil.example:8300", host="evil.example:8300")


async def test_trusted_origins_are_those_of_forms(settings: Any) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://a.example", "https://*.b.example"]
    assert await is_taken("https://a.example")
    assert await is_taken("https://x.b.example")
    assert not await is_taken("http://a.example")
    assert not await is_taken("https://a.example:8443")
