"""Sockets from other sites and of strangers, and frames that no page would send."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from asgiref.sync import sync_to_async

from dashboard.config.asgi import application
from dashboard.live.messages import MAX_MESSAGE_CHARS
from dashboard.models import AuditEntry, ManagedGroup, Role
from tests.dashboard.conftest import SignIn
from tests.support.sockets import SocketTalk

pytestmark = pytest.mark.django_db(transaction=True)

OWN = b"http://localhost"
ORIGINS = (
    None,
    b"null",
    b"",
    b"https://evil.example",
    b"http://localhost.evil.example",
    b"http://localhost@evil.example",
    b"http://evil.example/localhost",
    b"http://evil.example#localhost",
    b"http://evil.example\\localhost",
    b"file://",
    b"\xff\xfe",
)
FRAMES: tuple[str | bytes, ...] = (
    "",
    "null",
    "[]",
    '"watch"',
    "NaN",
    "1e999",
    "{",
    '{"op":',
    "[" * MAX_MESSAGE_CHARS,
    '{"a":' * 600 + "1" + "}" * 600,
    "x" * (MAX_MESSAGE_CHARS + 1),
    '{"op": "watch"}',
    '{"op": "watch", "cluster": null}',
    '{"op": "watch", "cluster": ["hangzhou"]}',
    '{"op": "watch", "cluster": "elsewhere"}',
    '{"op": "watch", "cluster": "hangzhou", "group": 1}',
    '{"op": "watch", "cluster": "hangzhou", "group": "\\ud800"}',
    '{"op": "watch", "cluster": "hangzhou", "group": {"a": 1}}',
    '{"op": "watch", "cluster": "hangzhou", "labs": 1}',
    '{"op": "ping", "op": "nothing"}',
    '{"op": "\\u0000"}',
    '{"op": ["ping"]}',
    '{"type": "live.update", "text": "x"}',
    b"",
    b'{"op": "ping"}',
    b"\xff" * 100,
)


def talk(cookie: str = "", origin: bytes | None = OWN) -> SocketTalk:
    headers = [(b"host", b"localhost")]
    if origin is not None:
        headers.append((b"origin", origin))
    if cookie:
        headers.append((b"cookie", f"rocketscope_session={cookie}".encode()))
    return SocketTalk(application, "/ws/live/", headers=headers)


@pytest.fixture
async def cookie(transactional_db: None, sign_in: SignIn, hangzhou: object) -> str:
    client = await sync_to_async(sign_in)(Role.VIEWER)
    return str(client.cookies["rocketscope_session"].value)


async def test_our_own_page_opens_a_socket(cookie: str) -> None:
    socket = talk(cookie)
    assert await socket.connect()
    await socket.disconnect()


async def test_no_other_site_opens_a_socket(cookie: str) -> None:
    for origin in ORIGINS:
        assert not await talk(cookie, origin).connect(), origin


async def test_no_stranger_opens_a_socket() -> None:
    for cookie in ("", "made-up", "\u00e9", "x" * 4000):
        assert not await talk(cookie).connect(), cookie[:20]


async def test_a_frame_that_is_none_of_ours_is_answered_and_survived(
    cookie: str,
) -> None:
    socket = talk(cookie)
    assert await socket.connect()
    for frame in FRAMES:
        if isinstance(frame, bytes):
            await socket.send_bytes(frame)
        else:
            await socket.send_text(frame)
        answer = orjson.loads(await socket.text())
        assert answer["type"] == "error", frame[:40]
        assert len(answer["message"]) < 300, frame[:40]
    assert await socket.say({"op": "ping"}) == {"type": "pong"}
    await socket.disconnect()


async def test_a_socket_changes_nothing(cookie: str) -> None:
    socket = talk(cookie)
    assert await socket.connect()
    for op in ("add_member", "remove_group", "start_lab", "switch", "publish"):
        message: dict[str, Any] = {"op": op, "cluster": "hangzhou", "group": "billing"}
        answer = await socket.say({**message, "action": "add", "reason": "x"})
        assert answer["type"] == "error", op
    await socket.disconnect()
    assert not await ManagedGroup.objects.aexists()
    assert not await AuditEntry.objects.aexists()
