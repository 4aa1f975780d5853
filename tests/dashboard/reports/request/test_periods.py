from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from dashboard.reports.request.periods import LAST, read_period
from dashboard.reports.request.refusals import ReportRefusedError

NOW = datetime(2026, 3, 13, 12, tzinfo=UTC)
SHANGHAI = ZoneInfo("Asia/Shanghai")


@pytest.mark.parametrize("name", LAST)
def test_a_named_period_reaches_up_to_now(name: str) -> None:
    period = read_period({"period": name}, NOW, SHANGHAI)
    assert period.until == NOW
    assert period.since == NOW - LAST[name][0]


def test_without_a_word_it_is_the_last_hour() -> None:
    assert read_period({}, NOW, UTC).since == NOW - timedelta(hours=1)


def test_two_moments_are_local_times() -> None:
    fields = {
        "period": "custom",
        "since": "2026-03-13T08:00",
        "until": "2026-03-13T09:30",
    }
    period = read_period(fields, NOW, SHANGHAI)
    assert period.since == datetime(2026, 3, 13, tzinfo=UTC)
    assert period.until == datetime(2026, 3, 13, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"period": "forever"}, "forever"),
        ({"period": "custom"}, "not a date and time"),
        ({"period": "custom", "since": "noon", "until": "noon"}, "noon"),
        (
            {
                "period": "custom",
                "since": "2026-03-13T08:00",
                "until": "2026-03-13T08:00",
            },
            "ends before it begins",
        ),
    ],
)
def test_a_period_that_cannot_be_read_is_named(
    fields: dict[str, str], message: str
) -> None:
    with pytest.raises(ReportRefusedError, match=message):
        read_period(fields, NOW, UTC)
