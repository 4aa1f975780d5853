import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import ArgumentError
from rmqcore.model import SubscriptionData
from rmqcore.protocol.tags import (
    java_string_hash,
    parse_tag_expression,
    tags_code,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("TagA", 2598919),
        ("TagB", 2598920),
        ("中文", 646394),
        ("polygenelubricants", -2147483648),
        ("\U0001f600", 31 * 0xD83D + 0xDE00),
    ],
)
def test_hashes_are_javas(text: str, expected: int) -> None:
    assert java_string_hash(text) == expected


@given(st.text(max_size=40))
def test_every_hash_fits_an_int(text: str) -> None:
    assert -(2**31) <= java_string_hash(text) < 2**31


def test_no_tag_has_code_zero() -> None:
    assert tags_code(None) == tags_code("") == 0
    assert tags_code("TagA") == 2598919


@pytest.mark.parametrize("expression", [None, "", "*", " * "])
def test_no_expression_means_all(expression: str | None) -> None:
    subscription = parse_tag_expression("T", expression, 7)
    assert subscription == SubscriptionData("T", "*", sub_version=7)
    assert subscription.takes_all


@pytest.mark.parametrize(
    "expression", ["TagA || TagB", "TagA||TagB", " TagA|| ||TagB||"]
)
def test_tags_are_split_and_trimmed(expression: str) -> None:
    subscription = parse_tag_expression("T", expression)
    assert subscription.tags == {"TagA", "TagB"}
    assert subscription.codes == {2598919, 2598920}
    assert subscription.sub_string == expression


def test_an_expression_without_a_tag_is_refused() -> None:
    with pytest.raises(
        ArgumentError, match=r"expression '\|\| \|\|' of T names no tag"
    ):
        parse_tag_expression("T", "|| ||")


def test_a_broker_cannot_tell_tags_with_one_hash_apart() -> None:
    subscription = parse_tag_expression("T", "Aa")
    assert java_string_hash("Aa") == java_string_hash("BB")
    assert tags_code("BB") in subscription.codes
    assert "BB" not in subscription.tags
