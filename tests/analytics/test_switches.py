from __future__ import annotations

import pytest

from analytics.switches import read_switch


@pytest.mark.parametrize(
    ("value", "meant"),
    [("1", True), (" Yes ", True), ("on", True), ("off", False), ("FALSE", False)],
)
def test_a_word_means_the_same_whatever_the_default(value: str, meant: bool) -> None:
    assert read_switch("K", value, not meant) is meant


@pytest.mark.parametrize("default", [True, False])
@pytest.mark.parametrize("value", ["", "  "])
def test_nothing_is_the_default(value: str, default: bool) -> None:
    assert read_switch("K", value, default) is default


def test_another_word_is_named_with_the_words_allowed() -> None:
    words = "K='maybe' is not a switch: use one of 1, true, yes, on, 0, false, no, off"
    with pytest.raises(ValueError, match=words):
        read_switch("K", "Maybe", False)
