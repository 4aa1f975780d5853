"""One user who opens sockets, watches groups and sends messages without end."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.config.web import MOST_FRAME_BYTES
from dashboard.gateway.settings import ClusterSettings
from dashboard.live import shares
from dashboard.live.messages import MAX_MESSAGE_CHARS
from dashboard.live.metrics import SOCKETS
from dashboard.live.names import watch_key
from dashboard.live.shares import MESSAGES_AT_ONCE, MOST_SOCKETS, MOST_WATCHES, Share
from dashboard.live.sockets import CLOSE_REFUSED, LiveSocket
from dashboard.live.state import live_state
from dashboard.models import User
from tests.support.sockets import SocketTalk
from tests.support.valkey import Valkey

pytestmark = pytest.mark.django_db

VERA, OLGA = User(pk=1, username="vera"), User(pk=2, username="olga")
PING = '{"op": "ping"}'


@pytest.fixture(autouse=True)
def east(settings: Any, valkey: Valkey, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ROCKETSCOPE_CLUSTERS = {
        "east": ClusterSettings("east", ("127.0.0.1:9876",))
    }
    # Time stands still: nothing is allowed again while a test runs.
    standing: Any = defaultdict(lambda: Share(lambda: 0.0))
    monkeypatch.setattr(shares, "_shares", standing)


async def connected(user: User) -> SocketTalk:
    session = SimpleNamespace(session_key="x" * 32, get={}.get)
    socket = SocketTalk(LiveSocket.as_asgi(), "/ws/live/", user=user, session=session)
    assert await socket.connect()
    return socket


async def test_sockets_beyond_a_users_share_are_closed_with_the_bound() -> None:
    before = SOCKETS.open
    taken = [await connected(VERA) for _ in range(MOST_SOCKETS)]
    refused = await connected(VERA)
    reason = (
        f"{MOST_SOCKETS} live pages are open, the most for a user in one web process"
    )
    closed = {"type": "websocket.close", "code": CLOSE_REFUSED, "reason": reason}
    assert await refused.event() == closed
    await refused.send_text('{"op": "watch", "cluster": "east", "group": "g"}')
    await refused.disconnect()
    assert not live_state().client.exists(watch_key("east"))
    other = await connected(OLGA)
    assert await other.say({"op": "ping"}) == {"type": "pong"}
    await taken.pop().disconnect()
    again = await connected(VERA)
    assert await again.say({"op": "ping"}) == {"type": "pong"}
    for socket in (*taken, other, again):
        await socket.disconnect()
    assert SOCKETS.open == before


async def test_watches_beyond_a_users_share_reach_no_collector() -> None:
    socket = await connected(VERA)
    for number in range(MOST_WATCHES + 5):
        await socket.say({"op": "watch", "cluster": "east", "group": f"g{number}"})
    assert live_state().client.zcard(watch_key("east")) == MOST_WATCHES
    await socket.disconnect()


@pytest.mark.parametrize("message", [PING, "{", '{"op": "watch", "cluster": "east"}'])
async def test_a_loop_of_messages_ends_the_socket(message: str) -> None:
    socket = await connected(VERA)  # which counts as one
    for _ in range(MESSAGES_AT_ONCE - 1):
        await socket.send_text(message)
        await socket.text()
    await socket.send_text(message)
    closed = await socket.event()
    assert (closed["type"], closed["code"]) == ("websocket.close", CLOSE_REFUSED)
    assert f"{MESSAGES_AT_ONCE} messages" in closed["reason"]
    await socket.disconnect()


async def test_a_loop_of_handshakes_ends_too() -> None:
    for _ in range(MESSAGES_AT_ONCE):
        await (await connected(VERA)).disconnect()
    refused = await connected(VERA)
    assert (await refused.event())["code"] == CLOSE_REFUSED
    await refused.disconnect()


def test_the_server_refuses_no_frame_that_a_message_may_need() -> None:
    assert MOST_FRAME_BYTES == 4 * MAX_MESSAGE_CHARS
