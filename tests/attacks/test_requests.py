"""Requests that are too large, too slow, or that say who they are not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from django.core.cache import cache

from dashboard.accounts.throttle import LIMIT, SignInThrottle
from dashboard.config import limits
from dashboard.config.limits import MOST_BODY_BYTES, MOST_HEAD_BYTES

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE_S = 60


@pytest.fixture(autouse=True)
def counts(valkey: object) -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


class Talk:
    """A connection that says exactly what it is told to."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def to(cls, port: int) -> Talk:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def say(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def hear_until(self, end: bytes) -> bytes:
        async with asyncio.timeout(PATIENCE_S):
            return await self._reader.readuntil(end)

    async def hear(self) -> bytes:
        """Return all that comes until the other side closes."""
        async with asyncio.timeout(PATIENCE_S):
            heard = await self._reader.read(-1)
        self._writer.close()
        return heard


async def status_of(port: int, request: bytes) -> int:
    talk = await Talk.to(port)
    await talk.say(request)
    return int((await talk.hear()).split(b" ")[1])


def post(path: str, *headers: str, body: bytes = b"") -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def test_an_announced_flood_is_refused_before_it_is_read(port: int) -> None:
    length = f"Content-Length: {MOST_BODY_BYTES + 1}"
    assert await status_of(port, post("/sign-in/", length)) == 413


@pytest.mark.parametrize("announced", [True, False])
async def test_a_flood_of_a_program_is_refused_in_json(
    port: int, announced: bool
) -> None:
    head, body = f"Content-Length: {MOST_BODY_BYTES + 1}", b""
    if not announced:
        head = "Transfer-Encoding: chunked"
        body = b"%x\r\n%s\r\n" % (MOST_BODY_BYTES + 1, b"x" * (MOST_BODY_BYTES + 1))
    talk = await Talk.to(port)
    await talk.say(post("/api/v1/teams", head, body=body))
    answer = await talk.hear()
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"application/json" in answer
    assert b'{"detail":"a body has 1048576 bytes at most"}' in answer


async def test_an_unannounced_flood_is_cut_off(port: int) -> None:
    piece = b"x" * 65536
    chunk = b"%x\r\n%s\r\n" % (len(piece), piece)
    pieces = MOST_BODY_BYTES // len(piece) + 1
    request = post("/sign-in/", "Transfer-Encoding: chunked", body=chunk * pieces)
    assert await status_of(port, request) == 413


async def test_the_largest_body_is_taken(port: int) -> None:
    body = b"x" * MOST_BODY_BYTES
    request = post("/sign-in/", f"Content-Length: {len(body)}", body=body)
    # Refused for its missing token, which is asked for after the body was read.
    assert await status_of(port, request) == 403


async def test_a_body_that_never_ends_is_given_up(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.2)
    request = post("/sign-in/", "Content-Length: 100", body=b"user")
    assert await status_of(port, request) == 408


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: local"])
async def test_a_request_that_never_comes_is_given_up(
    port: int, monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.2)
    assert await status_of(port, said) == 408


async def test_a_second_request_that_never_comes_is_given_up(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.2)
    talk = await Talk.to(port)
    await talk.say(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert (await talk.hear_until(b"ok\n")).startswith(b"HTTP/1.1 200")
    await talk.say(b"GET /heal")
    assert (await talk.hear()).startswith(b"HTTP/1.1 408")


async def test_a_head_without_end_is_refused(port: int) -> None:
    line = f"X-More: {'x' * 1000}\r\n".encode()
    request = b"GET / HTTP/1.1\r\n" + line * (MOST_HEAD_BYTES // len(line) + 2)
    assert await status_of(port, request) == 431


LAST_CHUNK = b"0\r\n"
CHUNKED = post("/sign-in/", "Transfer-Encoding: chunked")


async def test_headers_behind_a_body_are_refused(port: int) -> None:
    trailer = b"X-Forwarded-Proto: https\r\n\r\n"
    assert await status_of(port, CHUNKED + LAST_CHUNK + trailer) == 400


async def test_headers_behind_a_body_without_end_are_refused(port: int) -> None:
    talk = await Talk.to(port)
    await talk.say(CHUNKED + LAST_CHUNK + b"X: y\r\n" * 1000)
    assert (await talk.hear()).startswith(b"HTTP/1.1 400")


async def test_an_address_that_a_stranger_claims_is_not_believed(port: int) -> None:
    for number in range(LIMIT):
        await wrong_password(port, f"10.0.0.{number}")
    assert is_held_up("127.0.0.1")


async def test_a_proxys_word_is_believed_where_it_is_trusted(
    port_behind_a_proxy: int,
) -> None:
    for _ in range(LIMIT):
        await wrong_password(port_behind_a_proxy, "10.0.0.1")
    assert is_held_up("10.0.0.1")
    assert not is_held_up("127.0.0.1")


async def wrong_password(port: int, claimed: str) -> None:
    token = "x" * 32
    body = f"csrfmiddlewaretoken={token}&username=admin&password=wrong".encode()
    request = post(
        "/sign-in/",
        f"Cookie: rocketscope_csrf={token}",
        f"X-Forwarded-For: {claimed}",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(body)}",
        body=body,
    )
    assert await status_of(port, request) == 200


def is_held_up(address: str) -> bool:
    from django.core.exceptions import ValidationError

    try:
        SignInThrottle("admin", address).check()
    except ValidationError:
        return True
    return False


@pytest.mark.parametrize(
    "headers",
    [
        ["Content-Length: 5", "Transfer-Encoding: chunked"],
        ["Content-Length: 5", "Content-Length: 6"],
        ["Content-Length: -1"],
        ["Content-Length: 1e3"],
        ["Content-Length: +5"],
        ["Content-Length: 0x5"],
        ["Content-Length: 5, 5"],
        ["Content-Length : 5"],
        [f"Content-Length: 1{'0' * 30}"],
        ["Transfer-Encoding: chunked, identity"],
        ["Transfer-Encoding: xchunked"],
        ["Transfer-Encoding : chunked"],
        ["Transfer-Encoding:", " chunked"],
        ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
        ["X\0: a"],
    ],
)
async def test_lengths_that_contradict_each_other_are_refused(
    port: int, headers: list[str]
) -> None:
    request = post("/sign-in/", *headers, body=b"0\r\n\r\n")
    assert await status_of(port, request) == 400


@pytest.mark.parametrize("host", ["evil.example", "localhost@evil", "", "a" * 300])
async def test_a_host_that_is_not_ours_is_refused(port: int, host: str) -> None:
    request = f"GET /sign-in/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    assert await status_of(port, request.encode()) == 400
