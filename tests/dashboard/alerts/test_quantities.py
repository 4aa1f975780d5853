"""Figures as people write them."""

from __future__ import annotations

import pytest

from dashboard.alerts.quantities import read_number, read_span, written, written_span
from dashboard.alerts.refusals import AlertRefusedError


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("30 s", 30_000),
        ("5 min", 300_000),
        ("5m", 300_000),
        ("1.5 h", 5_400_000),
        ("1 d", 86_400_000),
        ("10 分钟", 600_000),
        (" 2 小时 ", 7_200_000),
        ("1,000 s", 1_000_000),
        ("0 s", 0),
    ],
)
def test_a_span_has_a_unit(text: str, milliseconds: int) -> None:
    assert read_span(text, "hold") == milliseconds


@pytest.mark.parametrize("text", ["5", "min", "5 weeks", "-5 s", "1e3 s", "", "5 s s"])
def test_what_is_no_span_is_refused_by_its_text(text: str) -> None:
    with pytest.raises(AlertRefusedError, match="5 min") as refusal:
        read_span(text, "hold")
    assert refusal.value.field == "hold"


@pytest.mark.parametrize(
    ("text", "value"), [("100,000", 100_000), ("4.0×", 4.0), ("4x", 4), ("0", 0)]
)
def test_a_number_may_have_commas(text: str, value: float) -> None:
    assert read_number(text, "limit") == value


@pytest.mark.parametrize("text", ["", "many", "-1", "nan", "inf", "9" * 400])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(AlertRefusedError, match="100,000"):
        read_number(text, "limit")


@pytest.mark.parametrize("span", [0, 500, 1_000, 90_000, 300_000, 86_400_000])
def test_a_span_is_read_again_as_it_was_written(span: int) -> None:
    assert read_span(written_span(span), "hold") == span


@pytest.mark.parametrize(
    ("unit", "value"), [("ms", 300_000), ("messages", 100_000), ("ratio", 4.25)]
)
def test_a_figure_is_read_again_as_it_was_written(unit: str, value: float) -> None:
    read = read_span if unit == "ms" else read_number
    assert read(written(unit, value), "limit") == value
