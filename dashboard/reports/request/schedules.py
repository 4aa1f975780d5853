"""When a report is due: every hour, day, week or month, on the clock of its zone.

Plain functions of a plan and a moment; nothing here reads a clock. A time that the
change to summer time skips is due once the clock has moved on; one that occurs twice is
due once, the first time.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from dashboard.models import ReportDefinition

Every = ReportDefinition.Every

_HOUR: Final = 60
MOST_MISSED: Final = 100_000
"""Missed times are counted one by one; an hourly report reaches this in 11 years."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`at_minute` is of the day, or of the hour where it runs every hour.

    `on_day` is 1 (Monday) to 7 for a week, 1 to 31 for a month; in a shorter month the
    last day is used.
    """

    every: str
    at_minute: int
    on_day: int
    zone: ZoneInfo


def plan_of(definition: ReportDefinition) -> Plan:
    """Return the plan of a definition."""
    return Plan(
        definition.every,
        definition.at_minute,
        definition.on_day,
        ZoneInfo(definition.zone),
    )


def next_time(plan: Plan, after: datetime) -> datetime | None:
    """Return the first due time after a moment, in UTC; None without a schedule."""
    if plan.every == Every.NEVER:
        return None
    if plan.every == Every.HOUR:
        return _next_hour(plan, after)
    day = after.astimezone(plan.zone).date() - timedelta(days=1)
    while True:
        if _is_day(plan, day):
            found = _moment(plan, day)
            if found > after:
                return found
        day += timedelta(days=1)


def times_due(plan: Plan, first: datetime, now: datetime) -> tuple[datetime, int]:
    """Return the last due time up to `now`, and how many earlier ones were missed.

    `first` is a due time that is not after `now`.
    """
    due, missed = first, 0
    while missed < MOST_MISSED:
        following = next_time(plan, due)
        if following is None or following > now:
            break
        due, missed = following, missed + 1
    return due, missed


def _next_hour(plan: Plan, after: datetime) -> datetime:
    minute = plan.at_minute % _HOUR
    local = after.astimezone(plan.zone)
    found = after - timedelta(
        minutes=local.minute - minute,
        seconds=local.second,
        microseconds=local.microsecond,
    )
    found = found.astimezone(UTC)
    return found if found > after else found + timedelta(hours=1)


def _is_day(plan: Plan, day: date) -> bool:
    if plan.every == Every.WEEK:
        return day.isoweekday() == plan.on_day
    if plan.every == Every.MONTH:
        return day.day == min(plan.on_day, monthrange(day.year, day.month)[1])
    return True


def _moment(plan: Plan, day: date) -> datetime:
    hour, minute = divmod(plan.at_minute, _HOUR)
    # In a gap of the zone's clock, fold 0 uses the offset from before the gap, which
    # gives the moment at which the clock shows that much later.
    return datetime.combine(day, time(hour, minute), plan.zone).astimezone(UTC)
