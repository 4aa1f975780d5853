import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import BodyError
from rmqcore.protocol.fastjson import MAX_BODY_BYTES, FrozenObject, dumps, loads
from rmqcore.protocol.fastjson.read import MAX_CONTAINERS, check_limits

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
keys = (
    texts
    | st.integers(-(2**63), 2**63 - 1)
    | st.builds(
        lambda broker, queue, topic: FrozenObject(
            {"brokerName": broker, "queueId": queue, "topic": topic}
        ),
        texts,
        st.integers(0, 2**31 - 1),
        texts,
    )
)
values = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4)
    ),
    max_leaves=20,
)


@given(values)
def test_what_is_written_is_read_back(value: object) -> None:
    assert loads(dumps(value)) == value


def test_text_and_bytes_are_read_alike() -> None:
    assert loads('{"a":"中"}') == loads('{"a":"中"}'.encode()) == {"a": "中"}


def test_quoted_keys_stay_text_and_bare_ones_are_numbers() -> None:
    assert loads(b'{"0":1}') == {"0": 1}
    assert loads(b"{0:1}") == {0: 1}


def test_text_that_is_not_utf8_is_refused_with_its_place() -> None:
    with pytest.raises(BodyError, match=r"not UTF-8: .* at byte 2"):
        loads(b'["\xff"]')


def test_half_a_character_is_refused() -> None:
    with pytest.raises(BodyError, match="not UTF-8"):
        loads('["\ud83d"]')


def test_an_empty_body_is_refused() -> None:
    with pytest.raises(BodyError, match="found the end"):
        loads(b"")


def test_the_size_is_bounded() -> None:
    check_limits(b"1" * MAX_BODY_BYTES)
    with pytest.raises(BodyError, match=f"body of {MAX_BODY_BYTES + 1} bytes, limit"):
        loads(b" " * (MAX_BODY_BYTES + 1))


def test_the_number_of_objects_is_bounded() -> None:
    check_limits(b"[" * MAX_CONTAINERS)
    check_limits(b"x" * MAX_CONTAINERS + b"[" * MAX_CONTAINERS)
    with pytest.raises(
        BodyError, match="with 1000001 objects and lists, limit 1000000"
    ):
        loads(b"[" + b"[]," * (MAX_CONTAINERS - 1) + b"{}]")


@given(st.binary(max_size=60) | st.text(max_size=30))
def test_any_bytes_give_a_value_or_a_body_error(data: bytes | str) -> None:
    try:
        loads(data)
    except BodyError as error:
        assert str(error)  # noqa: PT017 - the message is what is tested
