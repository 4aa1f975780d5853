import pytest

from rmqcore.broker.gate import Gate
from rmqcore.protocol.acl import ACCESS_KEY, SIGNATURE, AclCredentials
from rmqcore.protocol.command import RemotingCommand

ROOT = AclCredentials("root", "sk-12345678")
GATE = Gate({"root": "sk-12345678"})
FIELDS = {"topic": "T"}


def fault(fields: dict[str, str], body: bytes = b"b") -> str | None:
    return GATE.fault(RemotingCommand.request(105, fields, body))


def test_a_signed_request_is_let_in() -> None:
    assert fault(ROOT.sign(FIELDS, b"b")) is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (FIELDS, "no username"),
        (FIELDS | {ACCESS_KEY: "root"}, "user root: the request carries no signature"),
        (AclCredentials("nobody", "x").sign(FIELDS, b"b"), "user nobody is not known"),
        (AclCredentials("root", "wrong").sign(FIELDS, b"b"), "does not match"),
        (ROOT.sign(FIELDS, b"b") | {"topic": "U"}, "does not match"),
        (ROOT.sign(FIELDS, b"c"), "does not match"),
        (ROOT.sign(FIELDS, b"b") | {SIGNATURE: "é"}, "does not match"),
        ({ACCESS_KEY: "x" * 5000}, "user " + "x" * 80 + " is not known"),
    ],
)
def test_a_refusal_names_what_is_wrong(fields: dict[str, str], words: str) -> None:
    said = fault(fields)
    assert said is not None
    assert words in said
    assert "sk-12345678" not in said
