"""Brokers and name servers that answer with more than anybody asked for."""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.conf import settings
from django.utils.module_loading import import_string

from rmqcore.errors import BodyError, FrameError, ResponseError, RmqError
from rmqcore.protocol.bodies import decode_topic_route
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.frames import encode_frame
from rmqcore.transport import channel, connect, raise_for_code

GETS = RemotingCommand.request(105)
LINE_BREAKS = ("\n", "\r", "\r\n", "\x0b", "\x85", "\u2028", "\x1b[2J")


class HostilePeer:
    """A server that sends bytes of a test's choice and reads nothing."""

    def __init__(self, data: bytes, count: int = 1) -> None:
        self._data, self._count = data, count
        self.has_said = asyncio.Event()
        self.can_end = asyncio.Event()

    async def __call__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        for _ in range(self._count):
            writer.write(self._data)
            await writer.drain()
        self.has_said.set()
        await self.can_end.wait()
        writer.close()


async def served(peer: HostilePeer) -> AsyncIterator[str]:
    server = await asyncio.start_server(peer, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    yield f"{host}:{port}"
    peer.can_end.set()
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        b"\x7f\xff\xff\xff",
        b"\x01\x00\x00\x01\x00\x00\x00\x02",
        b"\x00\x00\x00\x00",
        b"\x00\x00\x00\x10\x00\xff\xff\xff",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"-ERR unknown command\r\n",
    ],
)
async def test_a_length_is_judged_before_anything_is_kept(data: bytes) -> None:
    async for address in served(HostilePeer(data)):
        asking = await connect(address)
        with pytest.raises(RmqError, match=r"frame|header"):
            await asking.request(GETS, timeout=60)
        assert asking._connection._decoder.buffered_bytes == 0
        await asking.close()


async def test_who_asks_without_reading_fills_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(channel, "MOST_UNREAD_BYTES", 1 << 20)
    request = encode_frame(RemotingCommand.request(105))
    peer = HostilePeer(request * 100, 300)
    answered, is_over = 0, asyncio.Event()

    def answer(_channel: object, command: RemotingCommand) -> RemotingCommand:
        nonlocal answered
        answered += 1
        if answered == 100 * 300:
            is_over.set()
        return command.response(body=bytes(1000))

    async for address in served(peer):
        asked = await connect(address, handler=answer)
        await is_over.wait()
        transport = asked._transport
        assert transport is not None
        assert transport.get_write_buffer_size() < 4 << 20
        transport.abort()
        await asked.wait_closed()


def test_a_long_excuse_is_cut() -> None:
    answer = GETS.response(1, "x" * 1_000_000)
    with pytest.raises(ResponseError, match=r"… \(1000000 characters\)$") as told:
        raise_for_code(answer, request_code=105, address="n:1")
    assert len(str(told.value)) < 1200


@pytest.mark.parametrize("mark", LINE_BREAKS)
def test_no_name_begins_a_line_of_the_log(mark: str) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    given: Any = settings.LOGGING
    for name in given["handlers"]["stderr"]["filters"]:
        handler.addFilter(import_string(given["filters"][name]["()"])())
    forged = f"orders{mark}2026-03-13 INFO vera signed in"
    record = logging.makeLogRecord({"msg": "group=%s", "args": (forged,)})
    handler.handle(record)
    assert len(stream.getvalue().splitlines()) == 1
    assert stream.getvalue().rstrip("\n").isprintable()


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 200_000,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"brokerDatas":[' + b"{}," * 1_000_001 + b"{}]}",
        b'{"brokerDatas":[{"$ref":"$"}],"queueDatas":[{"$ref":"$.brokerDatas"}]}',
        b'{"queueDatas":[{"readQueueNums":' + b"9" * 5_000 + b"}]}",
        b"\xff\xfe",
        b"NaN",
    ],
    ids=["lists", "objects", "many", "rings", "digits", "no text", "no number"],
)
def test_a_body_that_is_deep_or_huge_is_refused(body: bytes) -> None:
    with pytest.raises((BodyError, FrameError)):
        decode_topic_route(body)
