import asyncio
import contextlib
import logging
import struct
from collections.abc import AsyncIterator, Awaitable

import pytest

from rmqcore.errors import (
    AccessDeniedError,
    ArgumentError,
    BusyError,
    ChannelClosedError,
    ConnectError,
    RequestTimeoutError,
    ResponseError,
    StateError,
)
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.frames import encode_frame
from rmqcore.transport import Channel, Server, connect, parse_address, raise_for_code
from rmqcore.transport.channel import Answer, Handler

ECHO, LATER, SILENT, BREAK, REFUSE, HUGE, ASK_BACK = range(100, 107)


class Peer:
    """A server whose answers the request code chooses."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.release = asyncio.Event()

    def __call__(
        self, channel: Channel, command: RemotingCommand
    ) -> Answer | Awaitable[Answer]:
        self.seen.append(command.code)
        if command.code == ECHO:
            return command.response(0, None, command.ext_fields, command.body)
        if command.code == LATER:
            return self._later(command)
        if command.code == BREAK:
            raise RuntimeError("broken on purpose")
        if command.code == REFUSE:
            raise ArgumentError("queue id -1")
        if command.code == HUGE:
            return command.response(0, body=b"x" * (16 << 20))
        if command.code == ASK_BACK:
            return self._ask_back(channel, command)
        return None

    async def _later(self, command: RemotingCommand) -> Answer:
        await self.release.wait()
        return command.response(0)

    async def _ask_back(self, channel: Channel, command: RemotingCommand) -> Answer:
        answer = await channel.request(RemotingCommand.request(ECHO))
        return command.response(answer.code)


@contextlib.asynccontextmanager
async def peers(
    handler: Handler, **options: int
) -> AsyncIterator[tuple[Server, Channel]]:
    server = Server(handler, **options)
    await server.start()
    channel = await connect(server.address)
    try:
        yield server, channel
    finally:
        await channel.close()
        await server.stop()


def ask(code: int, body: bytes = b"", *, oneway: bool = False) -> RemotingCommand:
    return RemotingCommand.request(code, {"k": "v"}, body, oneway=oneway)


async def test_a_request_gets_its_answer() -> None:
    async with peers(Peer()) as (server, channel):
        answer = await channel.request(ask(ECHO, b"body"))
        assert (answer.code, answer.body, answer.ext_fields) == (0, b"body", {"k": "v"})
        assert channel.remote_address == server.address
        assert [c.remote_address for c in server.channels] == [channel.local_address]


async def test_pipelined_requests_overtake_a_slow_one() -> None:
    peer = Peer()
    async with peers(peer) as (_, channel):
        slow = channel.send_request_nowait(ask(LATER))
        answers = await asyncio.gather(
            *(channel.send_request_nowait(ask(ECHO, b"%d" % i)) for i in range(50))
        )
        assert [answer.body for answer in answers] == [b"%d" % i for i in range(50)]
        assert not slow.done()
        assert channel.open_requests == 1
        peer.release.set()
        assert (await slow).code == 0


async def test_no_answer_in_time_names_the_peer_and_the_limit() -> None:
    async with peers(Peer()) as (server, channel):
        with pytest.raises(
            RequestTimeoutError, match=rf"{server.address} .* 102 within 0\.05 s"
        ):
            await channel.request(ask(SILENT), timeout=0.05)
        assert channel.open_requests == 0
        assert (await channel.request(ask(ECHO))).code == 0


async def test_a_late_answer_is_dropped() -> None:
    peer = Peer()
    async with peers(peer) as (_, channel):
        with pytest.raises(RequestTimeoutError):
            await channel.request(ask(LATER), timeout=0.02)
        peer.release.set()
        assert (await channel.request(ask(ECHO))).code == 0


async def test_a_cancelled_wait_leaves_the_channel_good() -> None:
    peer = Peer()
    async with peers(peer) as (_, channel):
        waiting = asyncio.create_task(channel.request(ask(LATER)))
        await asyncio.sleep(0)
        waiting.cancel()
        peer.release.set()
        assert (await channel.request(ask(ECHO))).code == 0


@pytest.mark.parametrize(
    ("code", "remark"),
    [(BREAK, "RuntimeError: broken on purpose"), (REFUSE, "queue id -1")],
)
async def test_a_failing_handler_is_an_answer(
    code: int, remark: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    async with peers(Peer()) as (_, channel):
        answer = await channel.request(ask(code))
        assert answer.code == 1
        assert remark in (answer.remark or "")


async def test_an_answer_too_large_is_an_error_answer() -> None:
    async with peers(Peer()) as (_, channel):
        answer = await channel.request(ask(HUGE))
        assert answer.code == 1
        assert "limit 16777216" in (answer.remark or "")


async def test_a_oneway_request_is_never_answered() -> None:
    peer = Peer()
    async with peers(peer) as (_, channel):
        for code in (ECHO, BREAK, LATER):
            channel.send_oneway(ask(code, oneway=True))
        peer.release.set()
        answer = await channel.request(ask(ECHO, b"the only answer"))
        assert answer.body == b"the only answer"
        assert peer.seen == [ECHO, BREAK, LATER, ECHO]


async def test_the_server_asks_back_on_the_same_connection() -> None:
    server = Server(Peer())
    await server.start()
    channel = await connect(server.address, handler=Peer())
    assert (await channel.request(ask(ASK_BACK))).code == 0
    await channel.close()
    await server.stop()


async def test_a_client_without_handler_refuses() -> None:
    async with peers(Peer()) as (_, channel):
        assert (await channel.request(ask(ASK_BACK))).code == 3


async def test_waiting_callers_learn_that_the_peer_left() -> None:
    async with peers(Peer()) as (server, channel):
        waiting = channel.send_request_nowait(ask(SILENT))
        await channel.request(ask(ECHO))
        await server.stop()
        with pytest.raises(ChannelClosedError, match="closed by the peer"):
            await waiting
        assert channel.closed
        with pytest.raises(ChannelClosedError):
            channel.send_oneway(ask(ECHO, oneway=True))


async def test_unreadable_bytes_close_one_connection_only() -> None:
    async with peers(Peer()) as (server, channel):
        host, port = parse_address(server.address)
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(struct.pack(">II", 0x7FFFFFFF, 0))
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()
        assert (await channel.request(ask(ECHO))).code == 0


async def test_requests_before_unreadable_bytes_are_still_answered() -> None:
    peer = Peer()
    async with peers(peer, max_frame_bytes=300) as (_, channel):
        with pytest.raises(ChannelClosedError):
            await asyncio.gather(
                channel.send_request_nowait(ask(SILENT)),
                channel.send_request_nowait(ask(ECHO, b"x" * 400)),
            )
        assert peer.seen == [SILENT]


async def test_connecting_to_nobody_names_the_address() -> None:
    server = Server(Peer())
    await server.start()
    address = server.address
    await server.stop()
    with pytest.raises(ConnectError, match=address):
        await connect(address)


async def test_two_servers_cannot_share_a_port() -> None:
    async with peers(Peer()) as (server, _):
        host, port = parse_address(server.address)
        with pytest.raises(ConnectError, match=f"{server.address}: .*in use"):
            await Server(Peer(), host=host, port=port).start()


def test_a_server_has_no_address_before_start() -> None:
    with pytest.raises(StateError, match="before start"):
        _ = Server(Peer.__call__).address  # type: ignore[arg-type]


async def test_large_bodies_go_through_with_drain() -> None:
    async with peers(Peer()) as (_, channel):
        body = b"x" * (4 << 20)
        futures = []
        for _ in range(4):
            futures.append(channel.send_request_nowait(ask(ECHO, body), 20))
            await channel.drain()
        assert [len((await future).body) for future in futures] == [len(body)] * 4


@pytest.mark.parametrize(
    ("code", "remark", "error"),
    [
        (2, "[OVERLOAD]", BusyError),
        (215, None, BusyError),
        (16, "no", AccessDeniedError),
        (1, "org.apache.rocketmq.acl.common.AclException: x", AccessDeniedError),
        (17, "no topic", ResponseError),
    ],
)
def test_codes_become_errors(
    code: int, remark: str | None, error: type[ResponseError]
) -> None:
    response = ask(105).response(code, remark)
    with pytest.raises(error, match=f"n:1 answered request 105 with code {code}") as e:
        raise_for_code(response, request_code=105, address="n:1")
    assert type(e.value) is error
    raise_for_code(response, request_code=105, address="n:1", ok=(code,))


async def test_a_peer_that_does_not_read_is_not_read_from() -> None:
    peer = Peer()
    server = Server(peer)
    await server.start()
    reader, writer = await asyncio.open_connection(*parse_address(server.address))
    # The stream's own limit keeps it from reading ahead.
    count, body = 400, b"x" * 100_000
    command = RemotingCommand.request(ECHO, {}, body)
    writer.write(encode_frame(command) * count)
    channel = await _accepted(server)
    while channel._transport is None or channel._transport.is_reading():
        await asyncio.sleep(0)
    assert len(peer.seen) < count
    answer = encode_frame(command.response(0, None, {}, body))
    for _ in range(count):
        assert len(await reader.readexactly(len(answer))) == len(answer)
    assert len(peer.seen) == count
    writer.close()
    await server.stop()


async def _accepted(server: Server) -> Channel:
    while not server.channels:
        await asyncio.sleep(0)
    (channel,) = server.channels
    return channel
