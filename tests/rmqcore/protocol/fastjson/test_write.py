from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import LocalProtocolError
from rmqcore.model import MessageQueue
from rmqcore.protocol.fastjson import FrozenObject, dumps, loads, write_string


class Mode(StrEnum):
    ONE = "one"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}"),
        ([], "[]"),
        ({"b": 1, "a": None, "c": [None]}, '{"b":1,"c":[null]}'),
        ({0: "x", 1: True}, '{0:"x",1:true}'),
        ((1, False, "s"), '[1,false,"s"]'),
        ({FrozenObject({"x": 1}): 2}, '{{"x":1}:2}'),
        (
            {MessageQueue("T", "b", 3): 5},
            '{{"brokerName":"b","queueId":3,"topic":"T"}:5}',
        ),
        (
            [MessageQueue('T"', "b", 3)],
            '[{"brokerName":"b","queueId":3,"topic":"T\\""}]',
        ),
        (Mode.ONE, '"one"'),
        (frozenset({7}), "[7]"),
        (None, "null"),
    ],
)
def test_values_are_written_as_fastjson_does(value: object, text: str) -> None:
    assert dumps(value) == text.encode()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.5, "1.5"),
        (1.1000550027501375, "1.1000550027501375"),
        (0.001, "0.001"),
        (0.00012, "1.2E-4"),
        (1e-05, "1.0E-5"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (12345678.5, "1.23456785E7"),
        (-100000000.0, "-1.0E8"),
        (1.5e300, "1.5E300"),
        (-1e22, "-1.0E22"),
        (float("nan"), "null"),
        (float("inf"), "null"),
    ],
)
def test_numbers_with_a_fraction_are_written_as_java_does(
    value: float, text: str
) -> None:
    assert dumps(value).decode() == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_no_number_loses_a_digit(value: float) -> None:
    assert float(dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "raw", "standard"),
    [
        ("plain", '"plain"', '"plain"'),
        ('q"b\\', r'"q\"b\\"', r'"q\"b\\"'),
        ("a/b", '"a/b"', r'"a\/b"'),
        ("\b\f\n\r\t", r'"\b\f\n\r\t"', r'"\b\f\n\r\t"'),
        ("\x00\x0b\x1f", r'"\u0000\u000B\u001F"', r'"\u0000\u000B\u001F"'),
        ("\x7f\u2028", r'"\u007F\u2028"', r'"\u007F\u2028"'),
        ("中文", '"中文"', r'"\u4E2D\u6587"'),
        ("\U0001f600", '"\U0001f600"', r'"\uD83D\uDE00"'),
        ("\ud83d", '"?"', '"?"'),
    ],
)
def test_strings_are_escaped_as_fastjson_does(
    text: str, raw: str, standard: str
) -> None:
    assert write_string(text) == raw
    assert write_string(text, standard_json=True) == standard


def test_standard_json_has_text_for_keys_and_ascii_only() -> None:
    value = {"t": {0: "é", MessageQueue("é", "b", 1): 2}}
    data = dumps(value, standard_json=True)
    assert data.isascii()
    assert loads(data) == {
        "t": {"0": "é", '{"brokerName":"b","queueId":1,"topic":"é"}': 2}
    }


def test_other_types_are_refused() -> None:
    with pytest.raises(LocalProtocolError, match="a bytes cannot be in a body"):
        dumps({"a": b"x"})


def test_a_ring_is_refused() -> None:
    ring: list[object] = []
    ring.append(ring)
    with pytest.raises(LocalProtocolError, match="nested more than 100 levels"):
        dumps(ring)
