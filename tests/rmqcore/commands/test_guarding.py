import argparse
from pathlib import Path

import pytest

from rmqcore.commands.guarding import (
    add_tls_arguments,
    add_users_argument,
    read_users,
    server_tls,
)
from rmqcore.errors import ArgumentError
from rmqcore.transport import TlsMode
from tests.support.certificates import loopback_certificate


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_tls_arguments(parser)
    add_users_argument(parser)
    return parser.parse_args(words)


def test_without_a_certificate_connections_are_plain() -> None:
    assert server_tls(parsed()) is None


def test_a_certificate_and_its_mode(tmp_path: Path) -> None:
    certificate, key, _ = loopback_certificate(tmp_path)
    files = ["--tls-certificate", str(certificate), "--tls-key", str(key)]
    tls = server_tls(parsed(*files))
    assert tls is not None
    assert (tls.certificate, tls.mode) == (certificate, TlsMode.PERMISSIVE)
    tls = server_tls(parsed(*files, "--tls-mode", "enforcing"))
    assert tls is not None
    assert tls.mode is TlsMode.ENFORCING


@pytest.mark.parametrize("words", [["--tls-mode", "enforcing"], ["--tls-key", "k"]])
def test_encryption_without_a_certificate_is_refused(words: list[str]) -> None:
    with pytest.raises(ArgumentError, match="--tls-certificate"):
        server_tls(parsed(*words))


def test_a_file_that_is_no_certificate_is_named(tmp_path: Path) -> None:
    file = tmp_path / "c.pem"
    file.write_text("x")
    with pytest.raises(ArgumentError, match=r"c\.pem"):
        server_tls(parsed("--tls-certificate", str(file)))


def test_users_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    file.write_text('{"root": "secret"}')
    assert read_users(parsed("--users", str(file)).users) == {"root": "secret"}
    assert read_users(None) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "No such file"),
        ("{", "not JSON"),
        ("[]", "not an object"),
        ("{}", "not an object"),
        ('{"": "hidden"}', "user ''"),
        ('{"a": ""}', "user 'a'"),
        ('{"a": ["hidden"]}', "user 'a'"),
    ],
)
def test_users_that_cannot_be_read_are_named_without_their_secrets(
    tmp_path: Path, text: str | None, words: str
) -> None:
    file = tmp_path / "users.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ArgumentError, match=r"users\.json") as raised:
        read_users(file)
    assert words in str(raised.value)
    assert "hidden" not in str(raised.value)
