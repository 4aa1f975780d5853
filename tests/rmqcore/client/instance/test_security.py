"""Signed requests over TLS, as a server that checks both sees them."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator

import pytest
import trustme

from rmqcore.client import ClientInstance
from rmqcore.client.instance.client_spec import ClientSpec
from rmqcore.errors import AccessDeniedError, ConnectError
from rmqcore.model import MessageQueue
from rmqcore.protocol.acl import AclCredentials
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import Channel, Server
from rmqcore.transport.server import TlsMode

KEYS = AclCredentials("ak", "sk-12345678")
QUEUE = MessageQueue("T", "b", 0)


def strict(channel: Channel, command: RemotingCommand) -> RemotingCommand:
    """Answer what is signed with the right keys."""
    if KEYS.verify(command.ext_fields, command.body):
        return command.response(ext_fields={"offset": "7"})
    return command.response(ResponseCode.NO_PERMISSION, "signature does not match")


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
async def server(authority: trustme.CA) -> AsyncIterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    running = Server(strict, tls=context, tls_mode=TlsMode.ENFORCING)
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


async def max_offset(
    server: Server, tls: ssl.SSLContext, credentials: AclCredentials | None
) -> int:
    spec = ClientSpec.of(
        "127.0.0.1:1",
        {"tls": tls, "credentials": credentials, "timers": "external"},
    )
    instance: ClientInstance = spec.acquire()
    try:
        return await instance.calls.max_offset(server.address, QUEUE)
    finally:
        await spec.release(instance)


async def test_the_right_keys_open(server: Server, trusting: ssl.SSLContext) -> None:
    assert await max_offset(server, trusting, KEYS) == 7


@pytest.mark.parametrize("keys", [None, AclCredentials("ak", "another-key")])
async def test_other_keys_are_refused(
    server: Server, trusting: ssl.SSLContext, keys: AclCredentials | None
) -> None:
    with pytest.raises(AccessDeniedError, match="signature does not match"):
        await max_offset(server, trusting, keys)


async def test_a_certificate_that_is_not_trusted_is_refused(server: Server) -> None:
    with pytest.raises(ConnectError, match="certificate"):
        await max_offset(server, ssl.create_default_context(), KEYS)
