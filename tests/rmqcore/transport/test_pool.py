import asyncio
from collections.abc import AsyncIterator

import pytest

from rmqcore.errors import ChannelClosedError, ConnectError, StateError
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import Channel, ChannelPool, Server


def echo(channel: Channel, command: RemotingCommand) -> RemotingCommand:
    return command.response(0, None, command.ext_fields)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server = Server(echo)
    await server.start()
    yield server
    await server.stop()


async def test_callers_share_one_connection(server: Server) -> None:
    pool = ChannelPool()
    await asyncio.gather(
        *(pool.request(server.address, RemotingCommand.request(1)) for _ in range(20))
    )
    assert len(server.channels) == 1
    assert pool.addresses == {server.address}
    await pool.close()


async def test_hooks_see_every_request(server: Server) -> None:
    def sign(address: str, command: RemotingCommand) -> None:
        command.ext_fields["signed for"] = address

    pool = ChannelPool(hooks=[sign])
    answer = await pool.request(server.address, RemotingCommand.request(1))
    assert answer.ext_fields == {"signed for": server.address}
    await pool.oneway(server.address, RemotingCommand.request(1, oneway=True))
    await pool.close()


async def test_an_ended_channel_is_replaced(server: Server) -> None:
    ended: list[Channel] = []
    pool = ChannelPool(on_close=ended.append)
    first = await pool.channel(server.address)
    await first.close()
    second = await pool.channel(server.address)
    assert second is not first
    await pool.discard(server.address)
    await pool.discard(server.address)
    assert ended == [first, second]
    assert pool.addresses == frozenset()
    await pool.close()


async def test_one_callers_impatience_does_not_end_the_connect(server: Server) -> None:
    pool = ChannelPool()
    impatient = asyncio.create_task(pool.channel(server.address))
    patient = asyncio.create_task(pool.channel(server.address))
    await asyncio.sleep(0)
    impatient.cancel()
    assert not (await patient).closed
    await pool.close()


async def test_a_failed_connect_is_tried_again(server: Server) -> None:
    address = server.address
    await server.stop()
    pool = ChannelPool()
    for _ in range(2):
        with pytest.raises(ConnectError, match=address):
            await pool.channel(address)
    await pool.close()


async def test_a_closed_pool_refuses(server: Server) -> None:
    pool = ChannelPool()
    channel = await pool.channel(server.address)
    await pool.close()
    with pytest.raises(StateError, match="pool is closed"):
        await pool.channel(server.address)
    with pytest.raises(ChannelClosedError):
        await channel.request(RemotingCommand.request(1))
