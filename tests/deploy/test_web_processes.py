"""Two real web processes share one database and one Valkey: they are one program."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import orjson
import pytest
import redis
from channels_redis.pubsub import RedisPubSubChannelLayer
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from dashboard.accounts.throttle import LIMIT
from dashboard.live.admission import CLOSE_SIGNED_OUT
from dashboard.live.names import live_overview_name, watch_key
from dashboard.live.shares import MOST_SOCKETS
from tests.support.waiting import wait_until
from tests.support.web_processes import (
    CLUSTER,
    Browser,
    WebProcesses,
    browsers_of,
    running_web,
)

# Processes take long to start on a busy machine.
pytestmark = [pytest.mark.embedded, pytest.mark.timeout(1800)]

HOST = "rocketscope.example"
WATCH = {"op": "watch", "cluster": CLUSTER}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebProcesses]:
    settings = {
        "ROCKETSCOPE_HTTPS": "1",
        "ROCKETSCOPE_TRUSTED_PROXIES": "127.0.0.1",
        "ROCKETSCOPE_ALLOWED_HOSTS": HOST,
    }
    folder = tmp_path_factory.mktemp("two")
    with running_web(folder, count=2, settings=settings) as made:
        made.add_users("vera", "olga")
        yield made


@pytest.fixture
def both(web: WebProcesses) -> list[Browser]:
    """One browser as it reaches one process and the other."""
    return browsers_of(web.ports, HOST, "10.0.0.1")


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    """Closes the sockets that are entered here."""
    with ExitStack() as stack:
        yield stack


def say(socket: ClientConnection, message: object) -> dict[str, Any]:
    socket.send(json.dumps(message))
    answer: dict[str, Any] = json.loads(socket.recv(timeout=60))
    return answer


def test_a_session_of_one_is_a_session_of_the_other(both: list[Browser]) -> None:
    one, other = both
    assert one.sign_in("vera")
    assert other.ask("GET", "/account/").status == 200
    # The token of a form of one is taken by the other.
    assert other.post("/sign-out/").status == 302
    assert one.ask("GET", "/account/").status == 302


def test_wrong_passwords_are_counted_together(both: list[Browser]) -> None:
    for number in range(LIMIT):
        assert not both[number % 2].sign_in("olga", "wrong")
    assert not any(browser.sign_in("olga") for browser in both)


def test_a_link_is_spent_once(web: WebProcesses, both: list[Browser]) -> None:
    link = web.manage("sign_in_link", "--base-url", f"https://{HOST}").split()[-1]
    path = link.removeprefix(f"https://{HOST}")
    one, other = both
    assert other.ask("GET", path).status == 200
    assert one.post(path).status == 302
    one.cookies.pop("rocketscope_session")
    assert other.post(path).status == 403


def test_the_files_of_a_page_come_from_either(both: list[Browser]) -> None:
    one, other = both
    page = one.ask("GET", "/sign-in/").body.decode()
    files = set(re.findall(r'"(/static/[^"]+\.(?:js|css))"', page))
    assert files
    assert {other.ask("GET", file).status for file in files} == {200}


async def test_an_update_reaches_the_sockets_of_both(
    web: WebProcesses, both: list[Browser], opened: ExitStack
) -> None:
    assert both[0].sign_in("vera")
    sockets = [opened.enter_context(browser.live()) for browser in both]
    assert [say(socket, WATCH)["type"] for socket in sockets] == ["watching"] * 2
    layer = RedisPubSubChannelLayer(hosts=[web.valkey.url], prefix="rs-live")
    text = orjson.dumps({"type": "overview", "seq": 7}).decode()
    message = {"type": "live.update", "text": text}
    await layer.group_send(live_overview_name(CLUSTER), message)
    assert [socket.recv(timeout=60) for socket in sockets] == [text, text]
    await layer.flush()


def test_a_watch_lasts_as_long_as_either_has_a_socket(
    web: WebProcesses, both: list[Browser], opened: ExitStack
) -> None:
    assert both[0].sign_in("vera")
    one, other = (opened.enter_context(browser.live()) for browser in both)
    watch = {**WATCH, "group": "orders"}
    assert say(one, watch)["type"] == say(other, watch)["type"] == "watching"
    one.close()
    with redis.Redis(port=web.valkey.port) as client:
        before: Any = client.zscore(watch_key(CLUSTER), "orders")
        wait_until(lambda: client.zscore(watch_key(CLUSTER), "orders") > before)


def test_signing_out_at_one_ends_the_sockets_of_the_other(
    both: list[Browser], opened: ExitStack
) -> None:
    one, other = both
    assert one.sign_in("vera")
    socket = opened.enter_context(other.live())
    assert say(socket, {"op": "ping"})["type"] == "pong"
    one.post("/sign-out/")
    with pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=60)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == CLOSE_SIGNED_OUT


def test_a_bound_of_each_process_says_so(
    both: list[Browser], opened: ExitStack
) -> None:
    one, other = both
    assert one.sign_in("vera")
    sockets = [opened.enter_context(one.live()) for _ in range(MOST_SOCKETS + 1)]
    with pytest.raises(ConnectionClosed) as closed:
        sockets[-1].recv(timeout=60)
    assert closed.value.rcvd is not None
    assert "in one web process" in closed.value.rcvd.reason
    beside = opened.enter_context(other.live())
    assert say(beside, {"op": "ping"})["type"] == "pong"
