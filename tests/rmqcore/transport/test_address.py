import pytest

from rmqcore.errors import ArgumentError
from rmqcore.transport import format_address, parse_address


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("127.0.0.1:9876", ("127.0.0.1", 9876)),
        (" mq.example:0 ", ("mq.example", 0)),
        ("[::1]:10911", ("::1", 10911)),
        ("fe80::1:10911", ("fe80::1", 10911)),
    ],
)
def test_addresses_are_read(text: str, parts: tuple[str, int]) -> None:
    assert parse_address(text) == parts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not of the form host:port"),
        ("localhost", "not of the form"),
        (":9876", "not of the form"),
        ("h:x", "port 'x'"),
        ("h:65536", "port '65536' in address 'h:65536', allowed 0 to 65535"),
        ("h:-1", "port '-1'"),
    ],
)
def test_wrong_addresses_name_the_value(text: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        parse_address(text)


def test_ipv6_gets_brackets() -> None:
    assert format_address("::1", 5) == "[::1]:5"
    assert format_address("h", 5) == "h:5"
