"""Frames that a browser would not send, to the real server over a real connection."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator

import pytest
from asgiref.sync import sync_to_async

from dashboard.config.web import MOST_FRAME_BYTES
from dashboard.config.web_sockets import MOST_PIECES
from dashboard.models import Role
from tests.attacks.test_requests import PATIENCE_S, Talk
from tests.dashboard.conftest import SignIn

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("valkey"),
]

FIN, COMPRESSED = 0x80, 0x40
CONTINUED, TEXT, CLOSE, PING, PONG = 0, 1, 8, 9, 10
MASK = bytes(4)
"""A mask of zeros leaves the content as it is."""


def frame(kind: int, content: bytes = b"") -> bytes:
    assert len(content) < 1 << 16
    if len(content) < 126:
        return bytes((kind, 0x80 | len(content))) + MASK + content
    return bytes((kind, 0x80 | 126)) + struct.pack(">H", len(content)) + MASK + content


class SocketLine(Talk):
    """A connection that has become a socket."""

    head = b""

    async def closing(self) -> int:
        """Return the code with which the server closes; skip what comes before."""
        while True:
            kind, content = await self.next_frame()
            if kind & 0x0F == CLOSE:
                return int(struct.unpack(">H", content[:2])[0])

    async def next_frame(self) -> tuple[int, bytes]:
        async with asyncio.timeout(PATIENCE_S):
            kind, size = await self._reader.readexactly(2)
            if size == 126:
                (size,) = struct.unpack(">H", await self._reader.readexactly(2))
            return kind, await self._reader.readexactly(size)

    def close(self) -> None:
        self._writer.close()


@pytest.fixture
async def line(
    transactional_db: None, sign_in: SignIn, port: int
) -> AsyncIterator[SocketLine]:
    client = await sync_to_async(sign_in)(Role.VIEWER)
    key = client.cookies["rocketscope_session"].value
    lines = [
        "GET /ws/live/ HTTP/1.1",
        f"Host: localhost:{port}",
        f"Origin: http://localhost:{port}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits",
        f"Cookie: rocketscope_session={key}",
    ]
    connection = socket.socket()
    # Little is kept for who does not read.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setblocking(False)
    await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", port))
    line = SocketLine(*await asyncio.open_connection(sock=connection))
    await line.say("\r\n".join([*lines, "", ""]).encode())
    line.head = await line.hear_until(b"\r\n\r\n")
    assert line.head.startswith(b"HTTP/1.1 101")
    yield line
    line.close()


async def test_no_compression_is_agreed_on(line: SocketLine) -> None:
    assert b"extensions" not in line.head.lower()
    await line.say(frame(FIN | COMPRESSED | TEXT, b"\xaa\x56\x2a"))
    assert await line.closing() == 1002


async def test_a_frame_that_is_too_large_is_refused_by_its_head(
    line: SocketLine,
) -> None:
    await line.say(bytes((FIN | TEXT, 0xFF)) + struct.pack(">Q", MOST_FRAME_BYTES + 1))
    assert await line.closing() == 1009


async def test_pieces_of_a_message_count_together(line: SocketLine) -> None:
    piece = b"x" * (MOST_FRAME_BYTES // 4)
    await line.say(frame(TEXT, piece) + frame(CONTINUED, piece) * 4)
    assert await line.closing() == 1009


async def test_pieces_without_content_have_an_end(line: SocketLine) -> None:
    await line.say(frame(TEXT) + frame(CONTINUED) * 2 * MOST_PIECES)
    assert await line.closing() == 1009


async def test_a_message_in_pieces_is_read(line: SocketLine) -> None:
    message = [b'{"op"', b":", b'"ping"}']
    await line.say(frame(TEXT, message[0]) + frame(CONTINUED, message[1]))
    await line.say(frame(FIN | CONTINUED, message[2]))
    assert await line.next_frame() == (FIN | TEXT, b'{"type":"pong"}')


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x81\x02ab", 1002),
        (frame(FIN | 3, b"x"), 1002),
        (frame(FIN | CONTINUED, b"x"), 1002),
        (frame(PING, b"x"), 1002),
        (frame(FIN | CLOSE, b"x"), 1002),
        (frame(FIN | TEXT, b"\xff\xfe"), 1007),
    ],
    ids=["unmasked", "unknown kind", "no beginning", "ping in pieces", "close", "text"],
)
async def test_a_frame_that_breaks_the_rules_ends_the_socket(
    line: SocketLine, data: bytes, code: int
) -> None:
    await line.say(data)
    assert await line.closing() == code


async def test_who_pings_without_reading_fills_no_memory(line: SocketLine) -> None:
    ping, count = frame(FIN | PING, b"x" * 125), 100_000
    for _ in range(count // 1000):
        await line.say(ping * 1000)
    await line.say(frame(FIN | TEXT, b'{"op":"ping"}'))
    pongs = 0
    while (await line.next_frame())[0] == FIN | PONG:
        pongs += 1
    assert 0 < pongs < count
