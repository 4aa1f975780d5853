"""The text that we write is what prometheus-client reads."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from dashboard.metrics.exposition import Family, exposed, labelled

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.floats(allow_nan=False) | st.integers(-(2**53), 2**53)


@given(TEXTS, TEXTS, NUMBERS)
def test_any_label_and_number_is_read_back(one: str, two: str, number: float) -> None:
    family = Family("rocketscope_x", "Some text.")
    family.add(labelled(one=one, two=two), number)
    (read,) = text_string_to_metric_families(exposed([family]).decode())
    (sample,) = read.samples
    assert sample.labels == {"one": one, "two": two}
    assert sample.value == number


def test_help_and_kind_are_told_without_samples_too() -> None:
    counter = Family("rocketscope_x_total", "A \\ and\na line.", "counter")
    counter.add("", 3)
    text = exposed([counter, Family("rocketscope_y", "Nothing.")]).decode()
    one, two = text_string_to_metric_families(text)
    assert (one.type, one.documentation) == ("counter", "A \\ and\na line.")
    assert [(s.name, s.value) for s in one.samples] == [("rocketscope_x_total", 3)]
    assert (two.type, two.samples) == ("gauge", [])


def test_infinity_is_written_as_prometheus_does() -> None:
    family = Family("rocketscope_x", "Some text.")
    family.add("", math.inf)
    assert exposed([family]).endswith(b"rocketscope_x +Inf\n")


@pytest.mark.parametrize(
    ("name", "kind"), [("rocketscope_x", "counter"), ("rocketscope_x_total", "gauge")]
)
def test_counters_alone_are_totals(name: str, kind: str) -> None:
    with pytest.raises(ValueError, match="counters, and they alone, are _total"):
        Family(name, "Some text.", kind)  # type: ignore[arg-type]
