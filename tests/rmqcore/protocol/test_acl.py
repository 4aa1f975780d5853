import pytest

from rmqcore.errors import ArgumentError
from rmqcore.protocol.acl import AclCredentials, signature

CREDENTIALS = AclCredentials("ak", "sk-12345678")
FIELDS = {"acceptStandardJsonOnly": "true", "topic": "T"}
JAVA_SIGNATURE = "9KJ2nQHp1qh0nAdb5ziIzyvZTA0="


def test_the_signature_is_javas() -> None:
    signed = CREDENTIALS.sign(FIELDS, b"body")
    assert signed == FIELDS | {"AccessKey": "ak", "Signature": JAVA_SIGNATURE}


def test_the_order_of_the_fields_does_not_matter() -> None:
    turned = dict(reversed(CREDENTIALS.sign(FIELDS, b"body").items()))
    assert signature(turned, b"body", "sk-12345678") == JAVA_SIGNATURE


def test_signing_again_gives_the_same() -> None:
    signed = CREDENTIALS.sign(FIELDS, b"body")
    assert CREDENTIALS.sign(signed, b"body") == signed


def test_a_token_is_signed_too() -> None:
    signed = AclCredentials("ak", "sk-12345678", "sts").sign(FIELDS, b"body")
    assert signed["SecurityToken"] == "sts"
    assert signed["Signature"] != JAVA_SIGNATURE


def test_names_are_ordered_by_utf16_units() -> None:
    # U+1F600 is written with surrogates, which come before U+FF00.
    fields = {"\U0001f600": "1", "\uff00": "2"}
    expected = signature({"a": "1", "b": "2"}, b"", "sk")
    assert signature(fields, b"", "sk") == expected


def test_a_signed_request_is_verified() -> None:
    signed = CREDENTIALS.sign(FIELDS, b"body")
    assert CREDENTIALS.verify(signed, b"body")


@pytest.mark.parametrize(
    "changed",
    [
        {"topic": "U"},
        {"more": "x"},
        {"Signature": ""},
        {"Signature": "é"},
        {"AccessKey": "other"},
    ],
)
def test_a_changed_request_is_not(changed: dict[str, str]) -> None:
    signed = CREDENTIALS.sign(FIELDS, b"body")
    assert not CREDENTIALS.verify(signed | changed, b"body")
    assert not CREDENTIALS.verify(signed, b"other body")
    assert not CREDENTIALS.verify(FIELDS, b"body")


def test_the_secret_is_not_shown() -> None:
    assert repr(AclCredentials("ak", "hidden", "token")) == (
        "AclCredentials(access_key='ak')"
    )


@pytest.mark.parametrize(("access_key", "secret_key"), [("", "s"), ("a", "")])
def test_empty_keys_are_refused(access_key: str, secret_key: str) -> None:
    with pytest.raises(ArgumentError, match="must not be empty"):
        AclCredentials(access_key, secret_key)
