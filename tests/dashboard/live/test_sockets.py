from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from channels.layers import get_channel_layer
from django.contrib.auth.models import AnonymousUser

from dashboard.config.asgi import application
from dashboard.gateway.settings import ClusterSettings
from dashboard.live import admission, shares
from dashboard.live.names import (
    live_group_name,
    live_labs_name,
    live_overview_name,
    watch_key,
)
from dashboard.live.shares import MOST_WATCHES, Share
from dashboard.live.sockets import LiveSocket
from dashboard.live.state import live_state
from dashboard.models import User
from tests.support.sockets import SocketTalk
from tests.support.valkey import Valkey

# Channels tidies up old database connections with each message.
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def clusters(settings: Any, valkey: Valkey, monkeypatch: pytest.MonkeyPatch) -> None:
    # These users and their session are not in the database.
    monkeypatch.setattr(admission, "CHECK_SECONDS", 3600.0)
    settings.ROCKETSCOPE_CLUSTERS = {
        "east": ClusterSettings("east", ("127.0.0.1:9876",))
    }


@pytest.fixture(autouse=True)
def nothing_taken_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "_shares", defaultdict(Share))


def socket_of(user: object) -> SocketTalk:
    session = SimpleNamespace(session_key="x" * 32, get={}.get)
    return SocketTalk(LiveSocket.as_asgi(), "/ws/live/", user=user, session=session)


@pytest.fixture
async def socket() -> AsyncIterator[SocketTalk]:
    socket = socket_of(User(username="vera"))
    assert await socket.connect()
    yield socket
    await socket.disconnect()


async def publish(layer_name: str, text: str) -> None:
    await get_channel_layer().group_send(
        layer_name, {"type": "live.update", "text": text}
    )


@pytest.mark.parametrize("user", [None, AnonymousUser(), User(is_active=False)])
async def test_only_signed_in_users_are_accepted(user: object) -> None:
    assert not await socket_of(user).connect()


async def test_a_user_without_a_session_is_refused() -> None:
    user = User(username="vera")
    for scope in ({}, {"session": SimpleNamespace(session_key=None)}):
        socket = SocketTalk(LiveSocket.as_asgi(), "/ws/live/", user=user, **scope)
        assert not await socket.connect()


@pytest.mark.django_db(transaction=True)
async def test_another_site_is_refused_by_its_origin() -> None:
    headers = [(b"origin", b"http://evil.example"), (b"host", b"localhost")]
    socket = SocketTalk(application, "/ws/live/", headers=headers)
    assert not await socket.connect()


async def test_answers_a_ping(socket: SocketTalk) -> None:
    assert await socket.say({"op": "ping"}) == {"type": "pong"}


async def test_a_watched_groups_changes_are_relayed_as_they_are(
    socket: SocketTalk,
) -> None:
    answer = await socket.say({"op": "watch", "cluster": "east", "group": "g"})
    assert answer == {"type": "watching", "cluster": "east", "group": "g"}
    await publish(live_group_name("east", "other"), "other")
    await publish(live_group_name("east", "g"), '{"seq": 7}')
    assert await socket.text() == '{"seq": 7}'
    assert live_state().client.zscore(watch_key("east"), "g") is not None


async def test_a_clusters_digests_are_relayed(socket: SocketTalk) -> None:
    answer = await socket.say({"op": "watch", "cluster": "east"})
    assert answer == {"type": "watching", "cluster": "east"}
    await publish(live_overview_name("east"), "digest")
    assert await socket.text() == "digest"
    assert not live_state().client.exists(watch_key("east"))


async def test_after_unwatch_nothing_comes(socket: SocketTalk) -> None:
    name = {"cluster": "east", "group": "g"}
    await socket.say({"op": "watch", **name})
    assert await socket.say({"op": "unwatch", **name}) == {"type": "unwatched", **name}
    await publish(live_group_name("east", "g"), "late")
    assert await socket.say({"op": "ping"}) == {"type": "pong"}


async def test_a_malformed_message_is_answered_and_the_socket_goes_on(
    socket: SocketTalk,
) -> None:
    await socket.send_text("{")
    answer = orjson.loads(await socket.text())
    assert answer["type"] == "error"
    assert "not JSON" in answer["message"]
    assert await socket.say({"op": "ping"}) == {"type": "pong"}


async def test_an_unknown_cluster_is_named(socket: SocketTalk) -> None:
    answer = await socket.say({"op": "watch", "cluster": "north"})
    assert answer["message"] == "unknown cluster 'north'; configured: east"


async def test_binary_is_refused(socket: SocketTalk) -> None:
    await socket.send_bytes(os.urandom(12))
    answer = orjson.loads(await socket.text())
    assert answer["message"] == "binary message of 12 bytes, expected text"


async def test_watches_of_a_user_are_limited(socket: SocketTalk) -> None:
    other = socket_of(User(username="vera"))
    assert await other.connect()
    for number in range(MOST_WATCHES - 1):
        await socket.say({"op": "watch", "cluster": "east", "group": f"g{number}"})
    again = await socket.say({"op": "watch", "cluster": "east", "group": "g0"})
    assert again["type"] == "watching"
    last = await other.say({"op": "watch", "cluster": "east", "group": "last"})
    assert last["type"] == "watching"
    answer = await socket.say({"op": "watch", "cluster": "east", "group": "more"})
    assert (
        answer["message"]
        == f"{MOST_WATCHES} watches, the most for a user in one web process"
    )
    await other.disconnect()
    answer = await socket.say({"op": "watch", "cluster": "east", "group": "more"})
    assert answer["type"] == "watching"


async def test_a_lost_cache_closes_the_socket_with_try_again(settings: Any) -> None:
    settings.CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": ["redis://127.0.0.1:1/0"]},
        }
    }
    socket = socket_of(User(username="vera"))
    assert await socket.handshake() == {"type": "websocket.close", "code": 1013}


async def test_a_clusters_labs_are_relayed_and_told_from_its_overview(
    socket: SocketTalk,
) -> None:
    message = {"cluster": "east", "labs": True}
    answer = await socket.say({"op": "watch", **message})
    assert answer == {"type": "watching", **message}
    await publish(live_overview_name("east"), "digest")
    await publish(live_labs_name("east"), "moved on")
    assert await socket.text() == "moved on"
    answer = await socket.say({"op": "unwatch", **message})
    assert answer == {"type": "unwatched", **message}
