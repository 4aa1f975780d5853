from __future__ import annotations

import asyncio
import datetime
import hashlib
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trustme

from rmqcore.errors import ArgumentError, ConnectError, TransportError
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.connection import Connection, RequestReceived
from rmqcore.transport import Channel, ClientTls, Server, TlsMode, connect

LONG_AGO = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)


@dataclass
class Authority:
    """An authority of our own, its certificate in a file, and what it issues."""

    folder: Path
    authority: trustme.CA = field(default_factory=trustme.CA)

    @property
    def file(self) -> Path:
        path = self.folder / f"{id(self.authority)}.pem"
        self.authority.cert_pem.write_to_path(path)
        return path

    def issue(self, *names: str, **options: Any) -> trustme.LeafCert:
        return self.authority.issue_cert(*names, **options)

    def issue_files(self, *names: str) -> tuple[Path, Path]:
        issued = self.issue(*names)
        certificate, key = self.folder / "client.pem", self.folder / "client.key"
        issued.cert_chain_pems[0].write_to_path(certificate)
        issued.private_key_pem.write_to_path(key)
        return certificate, key


@pytest.fixture
def ours(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def others(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def echo(channel: Channel, command: RemotingCommand) -> RemotingCommand:
    return command.response()


@asynccontextmanager
async def serving(issued: trustme.LeafCert) -> AsyncIterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issued.configure_cert(context)
    server = Server(echo, tls=context, tls_mode=TlsMode.ENFORCING)
    await server.start()
    try:
        yield server.address
    finally:
        await server.stop()


@contextmanager
def known_clients_only(issued: trustme.LeafCert, clients: trustme.CA) -> Iterator[str]:
    """Take one connection, of a client with a certificate, and say why not another.

    It answers the first request. Like Java's, and unlike asyncio's, it sends an alert.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issued.configure_cert(context)
    clients.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED

    def serve() -> None:
        accepted, _address = listening.accept()
        with context.wrap_socket(
            accepted, server_side=True, do_handshake_on_connect=False
        ) as connection:
            try:
                connection.do_handshake()
                answer_one(connection)
            except ssl.SSLError:
                connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        host, port = listening.getsockname()
        yield f"{host}:{port}"
        thread.join()


def answer_one(connection: ssl.SSLSocket) -> None:
    protocol = Connection()
    while True:
        for event in protocol.receive_data(connection.recv(4096)):
            assert isinstance(event, RequestReceived)
            connection.sendall(protocol.send_response(event.command.response()))
            return


async def ask(address: str, tls: ClientTls) -> int:
    return await asked_with(address, tls.context())


async def asked_with(address: str, context: ssl.SSLContext) -> int:
    channel = await connect(address, tls=context)
    try:
        return (await channel.request(RemotingCommand.request(1))).code
    finally:
        await channel.close()


def fingerprint(issued: trustme.LeafCert) -> str:
    der = ssl.PEM_cert_to_DER_cert(issued.cert_chain_pems[0].bytes().decode())
    return hashlib.sha256(der).hexdigest()


async def refused(address: str, tls: ClientTls) -> str:
    with pytest.raises(ConnectError) as error:
        await ask(address, tls)
    assert str(error.value).startswith(address)
    return str(error.value)


async def test_the_right_ca_and_name_are_believed(ours: Authority) -> None:
    async with serving(ours.issue("127.0.0.1")) as address:
        assert await ask(address, ClientTls(ca=ours.file)) == 0


async def test_a_wrong_ca_is_told_with_the_one_expected(
    ours: Authority, others: Authority
) -> None:
    async with serving(others.issue("127.0.0.1", common_name="theirs")) as address:
        error = await refused(address, ClientTls(ca=ours.file))
    assert f": unknown CA: expected one of {ours.file}" in error
    assert "found the certificate of 'theirs' issued by 'trustme" in error


async def test_without_a_ca_the_systems_are_believed(
    ours: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(ours.issue("127.0.0.1")) as address:
        error = await refused(address, ClientTls())
        assert "unknown CA: expected one that the system knows" in error
        monkeypatch.setenv("SSL_CERT_FILE", str(ours.file))
        assert await ask(address, ClientTls()) == 0


async def test_an_expired_certificate_is_told_with_its_end(ours: Authority) -> None:
    expired = ours.issue("127.0.0.1", not_after=LONG_AGO, common_name="old")
    async with serving(expired) as address:
        error = await refused(address, ClientTls(ca=ours.file))
    assert "certificate expired: the certificate of 'old' was valid until Jan" in error
    assert "2020" in error


async def test_a_certificate_of_tomorrow_is_told_with_its_beginning(
    ours: Authority,
) -> None:
    begins = datetime.datetime(2900, 1, 1, tzinfo=datetime.UTC)
    async with serving(ours.issue("127.0.0.1", not_before=begins)) as address:
        error = await refused(address, ClientTls(ca=ours.file))
    assert "certificate not yet valid" in error
    assert "2900" in error


async def test_a_wrong_name_is_told_with_those_found(ours: Authority) -> None:
    async with serving(ours.issue("a.example", "b.example")) as address:
        error = await refused(address, ClientTls(ca=ours.file))
        assert (
            "wrong name: expected a certificate for 127.0.0.1, found one for "
            "a.example, b.example" in error
        )
        error = await refused(address, ClientTls(ca=ours.file, server_name="c.example"))
        assert "expected a certificate for c.example" in error


async def test_a_name_can_be_expected_in_place_of_the_address(ours: Authority) -> None:
    async with serving(ours.issue("b.example")) as address:
        tls = ClientTls(ca=ours.file, server_name="b.example")
        assert await ask(address, tls) == 0


async def test_a_file_with_the_servers_own_certificate_is_a_ca(
    ours: Authority, tmp_path: Path
) -> None:
    issued, file = ours.issue("127.0.0.1"), tmp_path / "own.pem"
    issued.cert_chain_pems[0].write_to_path(file)
    async with serving(issued) as address:
        assert await ask(address, ClientTls(ca=file)) == 0
    async with serving(ours.issue("127.0.0.1")) as address:
        assert "unknown CA" in await refused(address, ClientTls(ca=file))


async def test_a_fingerprint_is_enough(others: Authority) -> None:
    issued = others.issue("x.example", not_after=LONG_AGO)
    given = fingerprint(issued).upper()
    colons = ":".join(given[i : i + 2] for i in range(0, 64, 2))
    async with serving(issued) as address:
        assert await ask(address, ClientTls(fingerprints=(colons,))) == 0
        assert await ask(address, ClientTls(fingerprints=("0" * 64, given))) == 0


async def test_a_fingerprint_means_that_certificate_whoever_signed(
    ours: Authority,
) -> None:
    issued, wanted = ours.issue("127.0.0.1"), "ab" * 32
    async with serving(issued) as address:
        for ca in (None, ours.file):
            error = await refused(address, ClientTls(ca=ca, fingerprints=(wanted,)))
            assert (
                f": wrong fingerprint: expected a certificate with SHA-256 {wanted}"
                in error
            )
            assert f"found {fingerprint(issued)}" in error


async def test_with_a_ca_a_fingerprint_does_not_replace_it(
    ours: Authority, others: Authority
) -> None:
    issued = others.issue("127.0.0.1")
    tls = ClientTls(ca=ours.file, fingerprints=(fingerprint(issued),))
    async with serving(issued) as address:
        assert "unknown CA" in await refused(address, tls)
    issued = ours.issue("x.example")
    tls = ClientTls(ca=ours.file, fingerprints=(fingerprint(issued),))
    async with serving(issued) as address:
        assert await ask(address, tls) == 0


async def test_nothing_is_asked_of_a_server_with_another_fingerprint(
    ours: Authority,
) -> None:
    asked: list[int] = []

    def hear(channel: Channel, command: RemotingCommand) -> RemotingCommand:
        asked.append(command.code)
        return command.response()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.issue("127.0.0.1").configure_cert(context)
    server = Server(hear, tls=context)
    await server.start()
    await refused(server.address, ClientTls(fingerprints=("ab" * 32,)))
    await server.stop()
    assert asked == []


async def test_without_verification_anybody_is_believed(others: Authority) -> None:
    async with serving(others.issue("x.example", not_after=LONG_AGO)) as address:
        assert await ask(address, ClientTls(verify=False)) == 0


async def test_a_client_certificate_is_presented(ours: Authority) -> None:
    certificate, key = ours.issue_files("client.example")
    tls = ClientTls(ca=ours.file, certificate=certificate, key=key)
    with known_clients_only(ours.issue("127.0.0.1"), ours.authority) as address:
        assert await ask(address, tls) == 0


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_missing_client_certificate_is_told(
    ours: Authority, version: ssl.TLSVersion
) -> None:
    context = ClientTls(ca=ours.file).context()
    context.maximum_version = version
    with (
        known_clients_only(ours.issue("127.0.0.1"), ours.authority) as address,
        pytest.raises(TransportError, match=r"requires? a client certificate"),
    ):
        await asked_with(address, context)


async def test_a_client_certificate_of_others_is_told(
    ours: Authority, others: Authority
) -> None:
    certificate, key = others.issue_files("client.example")
    tls = ClientTls(ca=ours.file, certificate=certificate, key=key)
    with (
        known_clients_only(ours.issue("127.0.0.1"), ours.authority) as address,
        pytest.raises(TransportError, match="refused our client certificate"),
    ):
        await asked_with(address, tls.context())


async def test_a_server_that_just_hangs_up_is_told(ours: Authority) -> None:
    async with plain_server(b"") as address:
        error = await refused(address, ClientTls(ca=ours.file))
    assert "the server ended the TLS handshake without saying why" in error


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"fingerprints": ("ab:cd",)}, "'ab:cd' is not a SHA-256 of 64 hexadecimal"),
        ({"fingerprints": ("x" * 64,)}, "is not a SHA-256"),
        ({"server_name": "a b"}, "'a b' is neither a host name nor an IP address"),
        ({"server_name": "*.example"}, "'*.example' is neither"),
        ({"server_name": "h:1"}, "'h:1' is neither"),
        ({"verify": False, "ca": Path("ca.pem")}, "verification is off"),
        ({"verify": False, "fingerprints": ("ab" * 32,)}, "verification is off"),
        ({"key": Path("k.pem")}, "k.pem is given without a certificate"),
    ],
)
def test_values_that_cannot_be_used_are_named(given: Any, part: str) -> None:
    with pytest.raises(ArgumentError) as error:
        ClientTls(**given)
    assert part in str(error.value)


Broken = Callable[[Authority, Path], ClientTls]


def other_key(ours: Authority, folder: Path) -> ClientTls:
    certificate, _key = ours.issue_files("a.example")
    other = folder / "other.key"
    ours.issue("b.example").private_key_pem.write_to_path(other)
    return ClientTls(certificate=certificate, key=other)


def closed_key(ours: Authority, folder: Path) -> ClientTls:
    from cryptography.hazmat.primitives import serialization as how

    certificate, key = ours.issue_files("a.example")
    opened = how.load_pem_private_key(key.read_bytes(), None)
    key.write_bytes(
        opened.private_bytes(
            how.Encoding.PEM,
            how.PrivateFormat.PKCS8,
            how.BestAvailableEncryption(b"hush"),
        )
    )
    return ClientTls(certificate=certificate, key=key)


def empty(_ours: Authority, folder: Path) -> ClientTls:
    path = folder / "empty.pem"
    path.touch()
    return ClientTls(ca=path)


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda _ours, folder: ClientTls(ca=folder / "ca"), "No such file"),
        (empty, "empty.pem holds no certificate in PEM"),
        (
            lambda _ours, folder: ClientTls(certificate=folder / "none.pem"),
            "none.pem: No such file",
        ),
        (
            lambda ours, folder: ClientTls(certificate=ours.file, key=folder / "none"),
            "none: No such file",
        ),
        (other_key, "key values mismatch"),
        (closed_key, "the key is encrypted"),
    ],
)
def test_files_that_cannot_be_used_are_named(
    ours: Authority, tmp_path: Path, make: Broken, part: str
) -> None:
    with pytest.raises(ArgumentError) as error:
        make(ours, tmp_path).context()
    assert part in str(error.value)
    assert str(tmp_path) in str(error.value)


async def test_a_plain_server_is_told(ours: Authority) -> None:
    async with plain_server(b"HTTP/1.0 400 Bad Request\r\n\r\n") as address:
        error = await refused(address, ClientTls(ca=ours.file))
    assert "TLS was expected, but the server does not speak it" in error


@asynccontextmanager
async def plain_server(answer: bytes) -> AsyncIterator[str]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    try:
        yield f"{host}:{port}"
    finally:
        server.close()
        await server.wait_closed()
