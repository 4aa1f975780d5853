import ssl
from collections.abc import AsyncIterator

import pytest
import trustme

from rmqcore.errors import TransportError
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import Channel, Server, TlsMode, connect


def echo(channel: Channel, command: RemotingCommand) -> RemotingCommand:
    return command.response()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def server_tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


@pytest.fixture
def client_tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@pytest.fixture
async def permissive(server_tls: ssl.SSLContext) -> AsyncIterator[Server]:
    server = Server(echo, tls=server_tls)
    await server.start()
    yield server
    await server.stop()


@pytest.mark.parametrize("with_tls", [True, False])
async def test_one_port_takes_tls_and_plain(
    permissive: Server, client_tls: ssl.SSLContext, with_tls: bool
) -> None:
    channel = await connect(permissive.address, tls=client_tls if with_tls else None)
    assert (await channel.request(RemotingCommand.request(1))).code == 0
    await channel.close()


async def test_an_enforcing_server_refuses_plain(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    server = Server(echo, tls=server_tls, tls_mode=TlsMode.ENFORCING)
    await server.start()
    secure = await connect(server.address, tls=client_tls)
    assert (await secure.request(RemotingCommand.request(1))).code == 0
    plain = await connect(server.address)
    with pytest.raises(TransportError):
        await plain.request(RemotingCommand.request(1), timeout=2)
    await secure.close()
    await plain.close()
    await server.stop()


async def test_a_silent_plain_connection_does_not_hold_the_others(
    permissive: Server, client_tls: ssl.SSLContext
) -> None:
    silent = await connect(permissive.address)
    channel = await connect(permissive.address, tls=client_tls)
    assert (await channel.request(RemotingCommand.request(1))).code == 0
    await channel.close()
    await silent.close()
