"""What is wrong with an address, told by servers that are really there."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async

from dashboard.gateway import probing
from dashboard.gateway.probing import (
    Probe,
    Verdict,
    forbidden_addresses,
    is_forbidden,
    probe,
)
from dashboard.gateway.settings import ClientTls, ClusterSettings
from rmqcore.cluster import LocalCluster
from tests.support.certificates import loopback_certificate

Serving = Callable[..., AbstractAsyncContextManager[str]]


async def tried(address: str, tls: ClientTls | None = None) -> Probe:
    cluster = ClusterSettings("trial", (address,), tls=tls)
    (found,) = await sync_to_async(probe, thread_sensitive=False)(cluster)
    return found


@asynccontextmanager
async def serving(
    answer: bytes | None, context: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """Serve something that answers with some bytes, or never if None."""
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        if answer is None:
            await ended.wait()
        else:
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"127.0.0.1:{port}"
    finally:
        ended.set()
        server.close()


async def test_a_name_server_answers_with_its_brokers() -> None:
    async with LocalCluster() as cluster:
        found = await tried(cluster.nameserver_address)
        assert (found.verdict, found.brokers, found.good) == (Verdict.ANSWERS, 1, True)
        broker = next(iter(cluster.broker_addresses.values()))
        assert (await tried(broker)).verdict is Verdict.OTHER_SERVER


async def test_nothing_that_listens_is_told_from_a_name_that_is_none() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        assert (await tried(f"127.0.0.1:{port}")).verdict is Verdict.REFUSED
    assert (await tried("no-such.invalid:9876")).verdict is Verdict.UNRESOLVED


async def test_another_server_is_no_name_server_and_its_words_are_not_told() -> None:
    async with serving(b"SSH-2.0-secret\r\n") as address:
        found = await tried(address)
    assert found.verdict is Verdict.NO_NAME_SERVER
    assert "secret" not in repr(found)


async def test_a_server_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "STEP_SECONDS", 0.3)
    async with serving(None) as address:
        assert (await tried(address)).verdict is Verdict.SILENT


async def test_tls_that_is_expected_missing_or_not_trusted(tmp_path: Path) -> None:
    certificate, key, _trusts = loopback_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    async with serving(b"", context) as address:
        assert (await tried(address)).verdict is Verdict.TLS_EXPECTED
        assert (await tried(address, ClientTls())).verdict is Verdict.UNTRUSTED
    async with serving(b"plain") as address:
        assert (await tried(address, ClientTls())).verdict is Verdict.NO_TLS


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "::ffff:169.254.169.254",
        "fe80::1",
        "224.0.0.1",
        "0.0.0.0",
        "::",
        "240.0.0.1",
        "255.255.255.255",
        "100.100.100.200",
        "fd00:ec2::254",
    ],
)
def test_addresses_at_which_no_name_server_can_stand(address: str) -> None:
    assert is_forbidden(ip_address(address))


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.0.0.1", "fd00::1"])
def test_private_networks_are_where_name_servers_stand(address: str) -> None:
    assert not is_forbidden(ip_address(address))


async def test_a_forbidden_address_is_not_connected_to() -> None:
    assert (await tried("169.254.169.254:80")).verdict is Verdict.FORBIDDEN
    cluster = ClusterSettings("c", ("[fe80::1]:9876", "127.0.0.1:1", "x.invalid:1"))
    found = await sync_to_async(forbidden_addresses, thread_sensitive=False)(cluster)
    assert found == ["[fe80::1]:9876"]
