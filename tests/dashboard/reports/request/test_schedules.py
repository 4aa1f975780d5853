from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.models import ReportDefinition
from dashboard.reports.request.schedules import Plan, next_time, times_due

Every = ReportDefinition.Every
SHANGHAI = ZoneInfo("Asia/Shanghai")
BERLIN = ZoneInfo("Europe/Berlin")


def plan(
    every: str, at: str = "00:05", day: int = 1, zone: ZoneInfo = SHANGHAI
) -> Plan:
    hours, minutes = at.split(":")
    return Plan(every, int(hours) * 60 + int(minutes), day, zone)


def local(text: str, zone: ZoneInfo = SHANGHAI) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


@pytest.mark.parametrize(
    ("every", "at", "day", "after", "expected"),
    [
        (Every.HOUR, "00:05", 1, "2026-03-13T08:04", "2026-03-13T08:05"),
        (Every.HOUR, "00:05", 1, "2026-03-13T08:05", "2026-03-13T09:05"),
        (Every.DAY, "00:05", 1, "2026-03-13T00:04:59", "2026-03-13T00:05"),
        (Every.DAY, "00:05", 1, "2026-03-13T00:05", "2026-03-14T00:05"),
        (Every.WEEK, "06:30", 1, "2026-03-13T00:00", "2026-03-16T06:30"),
        (Every.WEEK, "06:30", 7, "2026-03-15T06:30", "2026-03-22T06:30"),
        (Every.MONTH, "00:00", 1, "2026-03-13T00:00", "2026-04-01T00:00"),
        (Every.MONTH, "23:59", 31, "2026-02-13T00:00", "2026-02-28T23:59"),
        (Every.MONTH, "23:59", 31, "2026-02-28T23:59", "2026-03-31T23:59"),
    ],
)
def test_the_next_time_is_on_the_clock_of_the_zone(
    every: str, at: str, day: int, after: str, expected: str
) -> None:
    assert next_time(plan(every, at, day), local(after)) == local(expected)


def test_without_a_schedule_nothing_is_due() -> None:
    assert next_time(plan(Every.NEVER), local("2026-03-13T00:00")) is None


def test_a_time_that_summer_time_skips_comes_when_the_clock_went_on() -> None:
    daily = plan(Every.DAY, "02:30", zone=BERLIN)
    found = next_time(daily, local("2026-03-29T01:00", BERLIN))
    assert found == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert found.astimezone(BERLIN).hour == 3


def test_a_time_that_comes_twice_is_due_once() -> None:
    daily = plan(Every.DAY, "02:30", zone=BERLIN)
    first = next_time(daily, local("2026-10-25T01:00", BERLIN))
    assert first is not None
    second = next_time(daily, first)
    assert second is not None
    assert second - first == timedelta(hours=25)


def test_missed_times_are_counted_and_the_last_stands() -> None:
    daily = plan(Every.DAY)
    due, missed = times_due(daily, local("2026-03-10T00:05"), local("2026-03-13T12:00"))
    assert (due, missed) == (local("2026-03-13T00:05"), 3)
    assert times_due(daily, due, due) == (due, 0)


@given(
    every=st.sampled_from([Every.HOUR, Every.DAY, Every.WEEK, Every.MONTH]),
    at_minute=st.integers(0, 1439),
    day=st.integers(1, 7),
    zone=st.sampled_from(["UTC", "Asia/Shanghai", "Europe/Berlin", "Asia/Kathmandu"]),
    start=st.datetimes(datetime(2025, 1, 1), datetime(2027, 1, 1)),  # noqa: DTZ001
)
def test_times_go_forward_and_never_stand_still(
    every: str, at_minute: int, day: int, zone: str, start: datetime
) -> None:
    chosen = Plan(every, at_minute, day, ZoneInfo(zone))
    times = [start.replace(tzinfo=UTC)]
    for _number in range(5):
        found = next_time(chosen, times[-1])
        assert found is not None
        times.append(found)
    longest = {Every.HOUR: 1, Every.DAY: 25, Every.WEEK: 169, Every.MONTH: 745}[every]
    for before, after in pairwise(times):
        assert before < after <= before + timedelta(hours=longest + 1)
