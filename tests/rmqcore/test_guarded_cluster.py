"""A cluster that encrypts and checks signatures, and who gets in."""

import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rmqcore.admin import AclCredentials, Admin
from rmqcore.cluster import LocalCluster
from rmqcore.errors import AccessDeniedError, ArgumentError, RmqError
from rmqcore.transport import ServerTls, TlsMode
from tests.support.certificates import loopback_certificate

ROOT = AclCredentials("root", "sk-12345678")
USERS = {"root": "sk-12345678"}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, ssl.SSLContext]:
    return loopback_certificate(tmp_path)


@pytest.fixture
async def signed() -> AsyncIterator[LocalCluster]:
    async with LocalCluster(users=USERS) as cluster:
        yield cluster


async def test_a_user_gets_in(signed: LocalCluster) -> None:
    await signed.create_topic("T", 2)
    async with Admin(signed.nameserver_address, credentials=ROOT) as admin:
        await admin.create_topic("U", 2)
        assert (await admin.snapshot()).complete


@pytest.mark.parametrize(
    ("credentials", "words"),
    [
        (None, "no username"),
        (AclCredentials("root", "wrong"), "signature"),
        (AclCredentials("nobody", "x"), "nobody"),
    ],
)
async def test_somebody_else_is_told_why_not(
    signed: LocalCluster, credentials: AclCredentials | None, words: str
) -> None:
    async with Admin(signed.nameserver_address, credentials=credentials) as admin:
        with pytest.raises(AccessDeniedError, match=words):
            await admin.create_topic("T", 1)
        assert "T" not in await admin.topic_names()


@pytest.mark.parametrize(
    ("mode", "encrypted", "plain"),
    [
        (TlsMode.DISABLED, False, True),
        (TlsMode.PERMISSIVE, True, True),
        (TlsMode.ENFORCING, True, False),
    ],
)
async def test_the_mode_decides_which_connections_are_taken(
    files: tuple[Path, Path, ssl.SSLContext],
    mode: TlsMode,
    encrypted: bool,
    plain: bool,
) -> None:
    certificate, key, context = files
    async with LocalCluster(tls=ServerTls(certificate, key, mode)) as cluster:
        # The brokers reach the name server by the same rule.
        await cluster.create_topic("T", 2)
        for tls, expected in ((context, encrypted), (None, plain)):
            async with Admin(cluster.nameserver_address, tls=tls, timeout=5) as admin:
                try:
                    snapshot = await admin.snapshot()
                except RmqError:
                    seen = False
                else:
                    seen = snapshot.complete and len(snapshot.topics["T"].keys) == 2
                assert seen is expected


async def test_files_that_are_no_good_are_named(
    files: tuple[Path, Path, ssl.SSLContext], tmp_path: Path
) -> None:
    certificate, key, _ = files
    absent = tmp_path / "absent.pem"
    with pytest.raises(ArgumentError, match=r"absent\.pem"):
        ServerTls(absent, key).server_context()
    with pytest.raises(ArgumentError, match=r"absent\.pem"):
        ServerTls(certificate, key, TlsMode.ENFORCING, absent).client_context()
