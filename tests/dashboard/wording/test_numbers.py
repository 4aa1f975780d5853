from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from dashboard.wording import numbers

EXAMPLES: dict[str, list[list[Any]]] = json.loads(
    Path(__file__).with_name("figures.json").read_text()
)
CASES = [(name, *case) for name, cases in EXAMPLES.items() for case in cases]


@pytest.mark.parametrize(("name", "value", "written"), CASES)
def test_figures_are_written_as_listed(name: str, value: float, written: str) -> None:
    with translation.override("en"):
        assert getattr(numbers, name)(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (840, "0.8 秒"),
        (209_000, "3 分 29 秒"),
        (11_430_000, "3 小时 10 分"),
        (187_200_000, "2 天 4 小时"),
    ],
)
def test_spans_of_time_are_written_in_chinese(value: int, written: str) -> None:
    with translation.override("zh-hans"):
        assert numbers.duration(value) == written
