"""Headers that say who somebody is, sent by those who may not say so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.core.cache import cache
from django.test import Client

from dashboard.accounts.outside import GroupRight, ProxyHeaders
from dashboard.accounts.proxy import PEER
from dashboard.config.asgi import application
from dashboard.models import AuditEntry, Identity, Role, Session, User
from tests.attacks.conftest import served
from tests.support.sockets import SocketTalk

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("valkey"),
]

SECRET = "only the proxy knows"
OLGA = [
    ("Remote-User", "olga"),
    ("Remote-Groups", "staff, admins"),
    ("X-Proxy-Secret", SECRET),
]
ADDRESS = "/account/"

Headers = list[tuple[str, str]]


@pytest.fixture(autouse=True)
def header(settings: Any) -> Iterator[None]:
    cache.clear()
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "testserver"]
    settings.ROCKETSCOPE_TRUSTED_PROXIES = ["127.0.0.0/8"]
    settings.ROCKETSCOPE_SIGN_IN_HEADER = ProxyHeaders(
        "Remote-User", "Remote-Groups", SECRET
    )
    settings.ROCKETSCOPE_SIGN_IN_GROUPS = (GroupRight("admins", "admin"),)
    yield
    cache.clear()


async def ask(headers: Headers, cookies: Any = None) -> httpx.Response:
    async with (
        served(["127.0.0.0/8"]) as port,
        httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", cookies=cookies, trust_env=False
        ) as client,
    ):
        return await client.get(ADDRESS, headers=headers)


async def nobody_was_let_in() -> bool:
    return not await User.objects.aexists() and not await Session.objects.aexists()


async def test_whom_the_proxy_names_is_signed_in() -> None:
    forwarded = [*OLGA, ("X-Forwarded-For", "203.0.113.9")]
    answer = await ask(forwarded)
    assert answer.status_code == 200
    user = await User.objects.aget()
    assert (user.get_username(), user.role) == ("olga", Role.ADMIN)
    known = await Identity.objects.aget()
    assert (known.issuer, known.subject) == ("proxy", "olga")
    entry = await AuditEntry.objects.aget(action="sign_in")
    assert (entry.details, entry.address) == ({"issuer": "proxy"}, "203.0.113.9")


async def test_from_elsewhere_the_header_is_ignored_and_logged(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.ROCKETSCOPE_TRUSTED_PROXIES = ["10.0.0.5"]
    for more in ([], [("X-Forwarded-For", "10.0.0.5")]):
        answer = await ask([*OLGA, *more])
        assert answer.status_code == 302
    assert await nobody_was_let_in()
    assert "127.0.0.1 is no trusted proxy" in caplog.text
    assert SECRET not in caplog.text


WRONG: dict[str, tuple[Headers, int]] = {
    "without the secret": (OLGA[:2], 302),
    "with another secret": ([*OLGA[:2], ("X-Proxy-Secret", "x")], 302),
    "with two secrets": ([*OLGA, ("X-Proxy-Secret", "x")], 302),
    "with an underscore": ([("Remote_User", "olga"), *OLGA[1:]], 302),
    "another name": ([("X-Remote-User", "olga"), *OLGA[1:]], 302),
    "an empty name": ([("Remote-User", ""), *OLGA[1:]], 302),
    "two names": ([("Remote-User", "vera"), *OLGA], 400),
    "the same name twice": ([OLGA[0], *OLGA], 400),
    "an empty name and another": ([("Remote-User", ""), *OLGA], 400),
    "groups twice": ([("Remote-Groups", "x"), *OLGA], 400),
    "a name with a tab": ([("Remote-User", "ol\tga"), *OLGA[1:]], 400),
    "a long name": ([("Remote-User", "x" * 151), *OLGA[1:]], 400),
    "no group": ([OLGA[0], OLGA[2]], 403),
    "another group": ([OLGA[0], ("Remote-Groups", "admin"), OLGA[2]], 403),
    "underscored groups": ([OLGA[0], ("Remote_Groups", "admins"), OLGA[2]], 403),
}


@pytest.mark.parametrize(("headers", "status"), WRONG.values(), ids=WRONG)
async def test_nobody_is_let_in(headers: Headers, status: int) -> None:
    answer = await ask(headers)
    assert answer.status_code == status
    assert await nobody_was_let_in()


async def test_a_variant_beside_the_header_changes_nothing() -> None:
    await ask([("Remote_User", "vera"), ("REMOTE_USER", "vera"), *OLGA])
    assert (await User.objects.aget()).get_username() == "olga"


async def test_the_cookie_is_worth_nothing_past_the_proxy() -> None:
    cookies = (await ask(OLGA)).cookies
    assert (await ask(OLGA, cookies)).status_code == 200
    assert await Session.objects.acount() == 1
    assert (await ask([], cookies)).status_code == 302
    other = await ask([("Remote-User", "vera"), *OLGA[1:]], cookies)
    assert "vera" in other.text


async def test_nobody_becomes_a_user_of_ours_by_their_name() -> None:
    await User.objects.acreate_user("olga", role=Role.VIEWER)
    await ask(OLGA)
    assert (await Identity.objects.select_related("user").aget()).user.username == (
        "olga-2"
    )


async def test_other_groups_count_at_once() -> None:
    cookies = (await ask(OLGA)).cookies
    less = [OLGA[0], ("Remote-Groups", "staff"), OLGA[2]]
    assert (await ask(less, cookies)).status_code == 403
    assert (await User.objects.aget()).role == ""
    assert not await Session.objects.aexists()


async def test_a_rest_call_without_a_right_is_answered_in_json() -> None:
    async with (
        served(["127.0.0.0/8"]) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client,
    ):
        answer = await client.get("/api/v1/clusters", headers=[OLGA[0], OLGA[2]])
        assert answer.status_code == 403
        assert "olga" in answer.json()["detail"]
        answer = await client.get("/api/v1/clusters", headers=OLGA)
        assert answer.status_code == 200


async def is_taken(
    headers: Headers, cookies: httpx.Cookies, peer: str = "127.0.0.1"
) -> bool:
    pairs = [("Host", "localhost"), ("Origin", "http://localhost"), *headers]
    pairs.append(("Cookie", "; ".join(f"{k}={v}" for k, v in cookies.items())))
    encoded = [(name.lower().encode(), value.encode()) for name, value in pairs]
    state = {PEER: peer} if peer else {}
    socket = SocketTalk(application, "/ws/live/", headers=encoded, state=state)
    taken = await socket.connect()
    if taken:
        await socket.disconnect()
    return taken


async def test_a_socket_is_for_whom_the_proxy_names() -> None:
    cookies = (await ask(OLGA)).cookies
    assert await is_taken(OLGA, cookies)
    assert not await is_taken([], cookies)
    assert not await is_taken(OLGA[:2], cookies)
    assert not await is_taken([("Remote-User", "vera"), *OLGA[1:]], cookies)
    assert not await is_taken([OLGA[0], *OLGA], cookies)
    assert not await is_taken(OLGA, cookies, peer="10.0.0.1")
    assert not await is_taken(OLGA, cookies, peer="")
    assert not await is_taken(OLGA, httpx.Cookies())


async def test_a_socket_of_the_real_server_knows_its_peer() -> None:
    cookies = (await ask(OLGA)).cookies
    cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
    for headers, status in ((OLGA, b"101"), (OLGA[:2], b"403")):
        async with served(["127.0.0.0/8"]) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            lines = [
                "GET /ws/live/ HTTP/1.1",
                f"Host: 127.0.0.1:{port}",
                f"Origin: http://127.0.0.1:{port}",
                "X-Forwarded-For: 203.0.113.9",
                "Connection: Upgrade",
                "Upgrade: websocket",
                "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                f"Cookie: {cookie}",
                *(f"{name}: {value}" for name, value in headers),
            ]
            writer.write("\r\n".join([*lines, "", ""]).encode())
            said = await asyncio.wait_for(reader.readline(), 60)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            assert said.split()[1] == status


async def test_a_server_that_notes_no_peer_lets_nobody_in() -> None:
    """Django's own client stands for any other server."""
    given = {f"HTTP_{k.upper().replace('-', '_')}": v for k, v in OLGA}
    get = sync_to_async(Client().get)
    assert (await get(ADDRESS, **given)).status_code == 302
