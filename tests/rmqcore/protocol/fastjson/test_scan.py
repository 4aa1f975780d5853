import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import BodyError
from rmqcore.protocol.fastjson import FrozenObject
from rmqcore.protocol.fastjson.scan import MAX_COMMAS, MAX_DEPTH, scan

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)
    ),
    max_leaves=20,
)


@given(values, st.booleans(), st.sampled_from([None, 1]))
def test_strict_json_is_read_as_a_strict_parser_reads_it(
    value: object, is_ascii: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent)
    assert scan(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{0:5,-1:6}", {0: 5, -1: 6}),
        ("{1.5:null}", {1.5: None}),
        ("{name:1,_x$:2}", {"name": 1, "_x$": 2}),
        ("{'a':'b\"c'}", {"a": 'b"c'}),
        ("[1,2,]", [1, 2]),
        ("{0:1,}", {0: 1}),
        ("[]", []),
        (" { } ", {}),
        ("\ufeff[\t1\n,\r2\f]", [1, 2]),
        ("[true,false,null]", [True, False, None]),
        ("-1.5e3", -1500.0),
        ("12345678901234567890", 12345678901234567890),
        ("18446744073709551616", 18446744073709551616.0),
        ("123456789012345678901234", 1.2345678901234569e23),
        ('"line\nbreak"', "line\nbreak"),
        (r'"\b\f\n\r\t\v\/\\\"\'"', "\b\f\n\r\t\v/\\\"'"),
        (r'"\0\7"', "\x00\x07"),
        (r'"a\x41\u0042c"', "aABc"),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\ud83d!"', "\ufffd!"),
    ],
)
def test_what_fastjson_writes_beyond_json_is_read(text: str, value: object) -> None:
    assert scan(text) == value


def test_objects_may_be_keys() -> None:
    value = scan('{{"brokerName":"b","queueId":0,"topic":"T"}:{"maxOffset":3}}')
    key = FrozenObject({"topic": "T", "brokerName": "b", "queueId": 0})
    assert value == {key: {"maxOffset": 3}}


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("", 0, "a value"),
        ("{", 1, "a key"),
        ("[", 1, "a value"),
        ("[1", 2, "',' or ']'"),
        ("{'a':1", 6, "',' or '}'"),
        ('"abc', 0, "a closing quote"),
        ('"abc\\', 0, "a closing quote"),
        ('{"a" 1}', 5, "':' after a key"),
        ("[1,,2]", 3, "a value"),
        ("[,]", 1, "a value"),
        ("{,}", 1, "a key"),
        ("nothing", 0, "a value"),
        ("-", 0, "a number"),
        ("1e999", 0, "a number of 64 bits"),
        (r'"ab\q"', 3, "a known escape"),
        ("1 2", 2, "nothing more"),
        ("[1]]", 3, "nothing more"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(
    text: str, position: int, expected: str
) -> None:
    with pytest.raises(BodyError) as caught:
        scan(text)
    assert f"expected {expected} at character {position}," in str(caught.value)


def test_nesting_is_bounded() -> None:
    assert scan("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(BodyError, match="at most 100 levels"):
        scan("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    with pytest.raises(BodyError, match="at most 100 levels"):
        scan("{" * 1_000_000)


def test_the_number_of_members_is_bounded() -> None:
    with pytest.raises(BodyError, match=f"1000001 commas, limit {MAX_COMMAS}"):
        scan("," * (MAX_COMMAS + 1))


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "text",
    ['"' + r"\a" * 2_000_000, '"' + "a\\\\" * 1_000_000, "1" * 4_000_000],
    ids=["escaped", "backslashes", "digits"],
)
def test_no_text_makes_the_scanner_go_back(text: str) -> None:
    with pytest.raises(BodyError):
        scan("[" + text)


@given(st.text("{}[]:,\"'\\0123456789.eE-truefalsn u$ \n", max_size=60))
def test_any_text_gives_a_value_or_a_body_error(text: str) -> None:
    try:
        value = scan(text)
    except BodyError:
        return
    assert value is None or isinstance(value, bool | int | float | str | list | dict)
