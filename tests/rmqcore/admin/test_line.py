from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from rmqcore.admin.line import Line
from rmqcore.errors import (
    AccessDeniedError,
    BusyError,
    ChannelClosedError,
    ConnectError,
    RequestTimeoutError,
)
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport.pool import ChannelPool
from tests.support.ports import free_port

from .scripted import Answer, ScriptedServer, busy, denied, silent

CODE = 202
MakeLine = Callable[..., Line]


def requests(count: int) -> list[tuple[int, RemotingCommand]]:
    return [(n, RemotingCommand.request(CODE, {"n": str(n)})) for n in range(count)]


def echo(request: RemotingCommand) -> Answer:
    return request.response(body=request.ext_fields["n"].encode())


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer() as server:
        server.answers[CODE] = echo
        yield server


@pytest.fixture
async def line_to() -> AsyncIterator[MakeLine]:
    pool = ChannelPool()

    def make(*addresses: str, timeout: float = 3) -> Line:
        return Line(pool, addresses, timeout)

    yield make
    await pool.close()


async def collect(line: Line, count: int, window: int = 4) -> dict[int, bytes]:
    taken: dict[int, bytes] = {}
    await line.ask_each(
        requests(count),
        lambda key, answer: taken.update({key: answer.body}),
        window=window,
    )
    return taken


async def test_every_request_gets_its_own_answer(
    server: ScriptedServer, line_to: MakeLine
) -> None:
    taken = await collect(line_to(server.address), 50)
    assert taken == {n: str(n).encode() for n in range(50)}


async def test_no_more_than_a_window_is_in_flight(
    server: ScriptedServer, line_to: MakeLine
) -> None:
    held: list[RemotingCommand] = []
    most = 0

    async def answer_later(request: RemotingCommand) -> RemotingCommand:
        nonlocal most
        held.append(request)
        most = max(most, len(held))
        await server_turn()
        held.remove(request)
        return request.response(body=b"x")

    server.answers[CODE] = answer_later
    assert len(await collect(line_to(server.address), 40, window=6)) == 40
    assert 1 < most <= 6


async def server_turn() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_nothing_asked_is_nothing_taken(
    server: ScriptedServer, line_to: MakeLine
) -> None:
    assert await collect(line_to(server.address), 0) == {}
    assert server.requests == []


async def test_answers_before_a_busy_one_are_handed_over(
    server: ScriptedServer, line_to: MakeLine
) -> None:
    server.answers[CODE] = lambda r: busy(r) if r.ext_fields["n"] == "3" else echo(r)
    taken: list[int] = []
    with pytest.raises(BusyError, match=f"{server.address} answered request {CODE}"):
        await line_to(server.address).ask_each(
            requests(10), lambda key, _: taken.append(key), window=4
        )
    assert taken == [0, 1, 2]


async def test_a_missing_answer_ends_the_asking(
    server: ScriptedServer, line_to: MakeLine
) -> None:
    server.answers[CODE] = lambda r: silent(r) if r.ext_fields["n"] == "1" else echo(r)
    with pytest.raises(RequestTimeoutError, match=r"within 0\.05 s"):
        await collect(line_to(server.address, timeout=0.05), 10)


async def test_all_missing_at_once_leaves_no_error_unseen(
    server: ScriptedServer, line_to: MakeLine
) -> None:
    server.answers[CODE] = silent
    with pytest.raises(RequestTimeoutError):
        await collect(line_to(server.address, timeout=0.05), 30, window=30)


async def test_a_connection_that_ends_is_an_error(
    server: ScriptedServer, line_to: MakeLine
) -> None:
    async def hang_up(request: RemotingCommand) -> RemotingCommand | None:
        await server.stop()
        return None

    server.answers[CODE] = hang_up
    with pytest.raises(ChannelClosedError, match=server.address):
        await collect(line_to(server.address), 3)


async def test_one_question_with_an_error_for_an_answer(
    server: ScriptedServer, line_to: MakeLine
) -> None:
    server.answers[CODE] = denied
    with pytest.raises(AccessDeniedError, match="signature is wrong"):
        await line_to(server.address).ask(RemotingCommand.request(CODE))


async def test_the_first_address_that_can_be_reached_is_used(
    server: ScriptedServer, line_to: MakeLine
) -> None:
    line = line_to(f"127.0.0.1:{free_port()}", server.address)
    assert len(await collect(line, 2)) == 2
    assert line.address == server.address


async def test_when_none_can_be_reached_the_first_one_is_named(
    line_to: MakeLine,
) -> None:
    first, second = (f"127.0.0.1:{free_port()}" for _ in range(2))
    with pytest.raises(ConnectError, match=first):
        await line_to(first, second).connect()


async def test_a_line_remembers_when_it_heard_something(
    server: ScriptedServer, line_to: MakeLine
) -> None:
    line = line_to(server.address)
    heard = line.last_heard
    await line.connect()
    assert heard < (connected := line.last_heard)
    await line.ask(requests(1)[0][1])
    assert connected < line.last_heard
