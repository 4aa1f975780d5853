import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import LocalProtocolError
from rmqcore.protocol.properties import decode_properties, encode_properties

texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x01\x02"),
    min_size=1,
    max_size=10,
)


@given(st.dictionaries(texts, texts, max_size=5))
def test_properties_survive_the_trip(properties: dict[str, str]) -> None:
    text = encode_properties(properties)
    assert decode_properties(text) == properties
    assert decode_properties(text.removesuffix("\x02")) == properties


def test_the_form_is_javas() -> None:
    text = encode_properties({"KEYS": "k1 k2", "TAGS": "TagA"})
    assert text == "KEYS\x01k1 k2\x02TAGS\x01TagA\x02"
    assert encode_properties({}) == ""


def test_empty_names_and_values_are_left_out() -> None:
    assert encode_properties({"": "x", "a": "", "b": "c"}) == "b\x01c\x02"
    assert decode_properties("\x01x\x02a\x01\x02plain\x02\x02b\x01c") == {"b": "c"}


def test_a_name_that_comes_twice_keeps_its_last_value() -> None:
    assert decode_properties("a\x011\x02a\x012\x02") == {"a": "2"}


@pytest.mark.parametrize(
    "properties", [{"a": "x\x01y"}, {"a": "x\x02y"}, {"a\x01": "x"}, {"a": "\x02"}]
)
def test_separators_are_refused(properties: dict[str, str]) -> None:
    with pytest.raises(LocalProtocolError, match=r"property 'a.*must not hold"):
        encode_properties({"before": "fine"} | properties)


@given(st.text("a\x01\x02", max_size=12))
def test_any_text_gives_properties_that_can_be_written(text: str) -> None:
    properties = decode_properties(text)
    for value in properties.values():
        assert "\x02" not in value
