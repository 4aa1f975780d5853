from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from dashboard.wording.cells import csv_cell, in_zone, safe_text

SHANGHAI = ZoneInfo("Asia/Shanghai")


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1", "＠x"],
)
def test_text_that_a_spreadsheet_would_run_is_disarmed(text: str) -> None:
    assert safe_text(text) == "'" + text


@pytest.mark.parametrize("text", ["", "settlement", "%RETRY%a", "a=b", "10.0.0.1@1"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert safe_text(text) == text


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        (0, 0),
        (-5, -5),
        (0.123456, 0.1235),
        (True, "true"),
        (False, "false"),
        ("=1", "'=1"),
        (datetime(2026, 3, 13, tzinfo=UTC), "2026-03-13T08:00:00+08:00"),
    ],
)
def test_unknown_is_empty_and_times_carry_their_zone(
    value: object, cell: object
) -> None:
    assert csv_cell(value, SHANGHAI) == cell


def test_a_time_without_zone_is_utc() -> None:
    assert in_zone(datetime(2026, 3, 13), SHANGHAI).hour == 8  # noqa: DTZ001
