import argparse
import ssl
from pathlib import Path

import pytest

from rmqcore.commands.verifying import add_client_tls_arguments, tls_context
from rmqcore.errors import ArgumentError, ConnectError
from rmqcore.protocol.command import RemotingCommand
from rmqcore.transport import Channel, Server, TlsMode, connect
from tests.support.certificates import loopback_certificate


def context(*words: str) -> ssl.SSLContext | None:
    parser = argparse.ArgumentParser()
    add_client_tls_arguments(parser)
    return tls_context(parser.parse_args(words))


def test_without_the_option_connections_are_plain() -> None:
    assert context() is None


def test_encryption_alone_verifies() -> None:
    made = context("--tls")
    assert made is not None
    assert made.check_hostname
    assert made.verify_mode is ssl.CERT_REQUIRED


async def test_the_options_decide_who_is_believed(tmp_path: Path) -> None:
    certificate, key, _ = loopback_certificate(tmp_path)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(certificate, key)

    def echo(channel: Channel, command: RemotingCommand) -> RemotingCommand:
        return command.response()

    server = Server(echo, tls=served, tls_mode=TlsMode.ENFORCING)
    await server.start()
    for words in (["--tls-ca", str(certificate)], ["--tls-verify", "off"]):
        channel = await connect(server.address, tls=context("--tls", *words))
        await channel.close()
    for words in ([], ["--tls-fingerprint", "ab" * 32]):
        with pytest.raises(ConnectError):
            await connect(server.address, tls=context("--tls", *words))
    await server.stop()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--tls-ca", "ca.pem"], "need --tls"),
        (["--tls-verify", "off"], "need --tls"),
        (["--tls", "--tls-ca", "/no/ca.pem"], "/no/ca.pem"),
        (["--tls", "--tls-fingerprint", "ab"], "'ab'"),
        (["--tls", "--tls-key", "k"], "without a certificate"),
        (["--tls", "--tls-verify", "off", "--tls-ca", "c"], "verification is off"),
    ],
)
def test_options_that_cannot_be_used_are_refused(words: list[str], part: str) -> None:
    with pytest.raises(ArgumentError) as error:
        context(*words)
    assert part in str(error.value)
