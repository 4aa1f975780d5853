import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.broker.properties import (
    terminated,
    with_property,
    without_property,
)
from rmqcore.protocol.properties import decode_properties, encode_properties
from rmqcore.store import property_values

NAMES = st.sampled_from(["A", "AA", "B", "TAGS", "XTAGS"])
VALUES = st.text(
    st.characters(exclude_characters="\x01\x02", codec="utf-8"), min_size=1
)


@pytest.mark.parametrize(
    ("text", "ended"),
    [(b"", b""), (b"A\x011", b"A\x011\x02"), (b"A\x011\x02", b"A\x011\x02")],
)
def test_a_string_is_ended(text: bytes, ended: bytes) -> None:
    assert terminated(text) == ended


@given(st.dictionaries(NAMES, VALUES), NAMES, VALUES)
def test_one_property_changes_and_the_others_stay(
    properties: dict[str, str], name: str, value: str
) -> None:
    text = encode_properties(properties).encode()
    changed = with_property(text, name.encode(), value.encode())
    assert decode_properties(changed.decode()) == properties | {name: value}
    assert property_values(changed)[name.encode()] == value.encode()
    removed = without_property(changed, name.encode())
    rest = {n: v for n, v in properties.items() if n != name}
    assert decode_properties(removed.decode()) == rest
