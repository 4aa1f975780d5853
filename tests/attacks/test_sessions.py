"""Stolen databases, planted and ended sessions, and sockets that outlive them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.cache import cache
from django.db import connection
from django.test import Client

from dashboard.config.asgi import application
from dashboard.live import admission
from dashboard.models import AuditEntry, Role, Session, User
from tests.dashboard.conftest import SignIn
from tests.support.sockets import SocketTalk

pytestmark = pytest.mark.django_db(transaction=True)

COOKIE = "rocketscope_session"
PASSWORD = "correct horse battery"
NEW = "a long and unlikely one"


@pytest.fixture(autouse=True)
def counts() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def vera() -> User:
    return User.objects.create_user("vera", password=PASSWORD, role=Role.VIEWER)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def key_of(client: Client) -> str:
    return str(client.cookies[COOKIE].value)


def with_key(key: str) -> Client:
    client = Client()
    client.cookies[COOKIE] = key
    return client


def lets_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def words_in_the_database() -> set[str]:
    """Return every value that somebody who reads the database finds."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            found |= {str(value) for row in cursor.fetchall() for value in row}
    return found


def test_who_reads_the_database_cannot_sign_in(vera: User) -> None:
    assert lets_in(with_key(key_of(signed_in(vera))))
    words = words_in_the_database()
    assert "vera" in words
    assert [word for word in words if word and lets_in(with_key(word))] == []


@pytest.mark.parametrize("known", [True, False], ids=["known", "made up"])
def test_a_planted_key_is_not_taken_over_at_sign_in(vera: User, known: bool) -> None:
    planted = "x" * 32
    if known:
        stranger = Client()
        session = stranger.session
        session["planted"] = True
        session.save()
        planted = str(session.session_key)
    victim = with_key(planted)
    victim.post("/sign-in/", {"username": "vera", "password": PASSWORD})
    assert lets_in(victim)
    assert key_of(victim) != planted
    assert not lets_in(with_key(planted))


def test_an_ended_session_lets_nobody_in_at_once(vera: User) -> None:
    lost, here = signed_in(vera), signed_in(vera)
    here.post("/account/sessions/", {"end": "others"})
    assert lets_in(here)
    assert lost.get("/account/")["Location"] == "/sign-in/?next=/account/"
    assert lost.get("/account/", headers={"X-Fragment": "1"}).status_code == 401
    assert lost.get("/api/v1/clusters").status_code == 401


def test_a_session_that_was_signed_out_cannot_be_used_again(vera: User) -> None:
    client = signed_in(vera)
    key = key_of(client)
    client.post("/sign-out/")
    assert not lets_in(with_key(key))


def test_a_new_password_ends_the_other_sessions(vera: User) -> None:
    lost, here = signed_in(vera), signed_in(vera)
    fields = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    here.post("/account/", fields)
    assert lets_in(here)
    assert not lets_in(lost)
    assert Session.objects.get().user == vera


def test_who_is_enabled_again_signs_in_again(vera: User, sign_in: SignIn) -> None:
    client, admin = signed_in(vera), sign_in(Role.ADMIN)
    address = f"/account/users/{vera.pk}/"
    admin.post(address, {"role": "viewer"})
    admin.post(address, {"role": "viewer", "is_active": "on"})
    assert not lets_in(client)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_only_admins_see_and_end_sessions_of_others(
    vera: User, sign_in: SignIn, role: Role
) -> None:
    victim, attacker = signed_in(vera), sign_in(role)
    address = f"/account/users/{vera.pk}/sessions/"
    key = Session.objects.get(user=vera).pk
    assert attacker.get(address).status_code == 403
    for end in ("others", key):
        assert attacker.post(address, {"end": end}).status_code == 403
    assert key not in attacker.get("/account/sessions/").content.decode()
    assert attacker.post("/account/sessions/", {"end": key}).status_code == 404
    assert lets_in(victim)
    assert not AuditEntry.objects.filter(action="session.end").exists()


def test_another_site_cannot_end_a_session(vera: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(vera)
    other = signed_in(vera)
    assert client.post("/account/sessions/", {"end": "others"}).status_code == 403
    assert lets_in(other)


def test_a_browsers_name_brings_no_markup(vera: User) -> None:
    client = Client(headers={"User-Agent": "<script>alert(1)</script>" * 100})
    client.post("/sign-in/", {"username": "vera", "password": PASSWORD})
    content = client.get("/account/sessions/").content
    assert b"&lt;script&gt;" in content
    assert b"<script>alert" not in content


@asynccontextmanager
async def socket_of(client: Client) -> AsyncIterator[SocketTalk]:
    headers = [
        (b"origin", b"http://localhost"),
        (b"host", b"localhost"),
        (b"cookie", f"{COOKIE}={key_of(client)}".encode()),
    ]
    socket = SocketTalk(application, "/ws/live/", headers=headers)
    assert await socket.connect()
    yield socket
    await socket.disconnect()


def disable(user: User, _client: Client) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def lower_role(user: User, _client: Client) -> None:
    User.objects.filter(pk=user.pk).update(role=Role.OPERATOR)


def set_password(user: User, _client: Client) -> None:
    user.set_password(NEW)
    user.save()


def delete(user: User, _client: Client) -> None:
    user.delete()


def sign_out(_user: User, client: Client) -> None:
    client.post("/sign-out/")


def end_others(user: User, _client: Client) -> None:
    signed_in(user).post("/account/sessions/", {"end": "others"})


@pytest.mark.parametrize(
    "happens", [disable, lower_role, set_password, delete, sign_out, end_others]
)
async def test_an_open_socket_ends_with_what_let_it_in(
    vera: User, monkeypatch: pytest.MonkeyPatch, valkey: object, happens: Any
) -> None:
    monkeypatch.setattr(admission, "CHECK_SECONDS", 0.01)
    client = await sync_to_async(signed_in)(vera)
    other = await sync_to_async(signed_in)(
        await User.objects.acreate(username="paul", role=Role.VIEWER)
    )
    async with socket_of(client) as socket, socket_of(other) as kept:
        assert await socket.say({"op": "ping"}) == {"type": "pong"}
        await sync_to_async(happens)(vera, client)
        assert await socket.event() == {
            "type": "websocket.close",
            "code": admission.CLOSE_SIGNED_OUT,
        }
        assert await kept.say({"op": "ping"}) == {"type": "pong"}
