"""How long until a broker's disk is so full that it deletes files whatever their age.

A broker deletes files that are older than `fileReservedTime`, once a day at
`deleteWhen`, and at once while the disk is above `diskMaxUsedSpaceRatio`. Above
`diskSpaceCleanForciblyRatio`, it deletes the oldest files whatever their age, whether
or not their messages have been consumed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from dashboard.live.broker_documents import BrokerFigures

WINDOW_MS: Final = 600_000
SHORTEST_MS: Final = 60_000
"""A rate over less than a minute says nothing about a disk."""

HOUR_MS: Final = 3_600_000
DAY_HOURS: Final = 24
SOFT: Final = (10, 95)
FORCED: Final = (30, 85)
"""Brokers keep these settings within these limits, in per cent."""


@dataclass(slots=True)
class LogGrowth:
    """Where the end of a broker's log stood in the last ten minutes, in bytes."""

    _marks: deque[tuple[int, int]] = field(default_factory=deque)

    def take(self, at_ms: int, end: int) -> None:
        """Note where the log ends; a log that has shrunk belongs to another store."""
        if self._marks and end < self._marks[-1][1]:
            self._marks.clear()
        self._marks.append((at_ms, end))
        while at_ms - self._marks[0][0] > WINDOW_MS:
            self._marks.popleft()

    @property
    def rate(self) -> float | None:
        """Bytes a second; None before a minute has passed."""
        if not self._marks:
            return None
        (begin_ms, begin), (end_ms, end) = self._marks[0], self._marks[-1]
        if end_ms - begin_ms < SHORTEST_MS:
            return None
        return round((end - begin) / (end_ms - begin_ms) * 1000, 1)


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """The time until files are deleted by force, or why it cannot be told."""

    ms: int | None = None
    why: str | None = None
    ratio: float | None = None


def time_left(
    figures: BrokerFigures, settings: Mapping[str, str], rate: float | None
) -> TimeLeft:
    """Return the time until the disk forces the broker to delete.

    There is none if files are deleted for their age as fast as messages come, before
    the disk is full.
    """
    ratio = _ratio(settings.get("diskSpaceCleanForciblyRatio"), FORCED)
    used, total = figures["disk_ratio"], figures["disk_total"]
    if ratio is None:
        return TimeLeft(why="no_settings")
    if used is None or total is None:
        return TimeLeft(why="not_told", ratio=ratio)
    if used >= ratio:
        return TimeLeft(0, ratio=ratio)
    if rate is None:
        return TimeLeft(why="first_minute", ratio=ratio)
    if rate <= 0:
        return TimeLeft(why="nothing_written", ratio=ratio)
    room = (ratio - used) * total
    if _kept_by_age(settings, rate, figures) <= room:
        return TimeLeft(why="age_first", ratio=ratio)
    return TimeLeft(round(room / rate * 1000), ratio=ratio)


def _kept_by_age(
    settings: Mapping[str, str], rate: float, figures: BrokerFigures
) -> float:
    """Return the bytes by which the log grows until its files reach their age limit."""
    hours = settings.get("fileReservedTime", "")
    if not hours.isdigit():
        return float("inf")
    soft = _ratio(settings.get("diskMaxUsedSpaceRatio"), SOFT)
    forced = _ratio(settings.get("diskSpaceCleanForciblyRatio"), FORCED)
    # Files over their age are deleted at once if the disk is above the lower limit,
    # else once a day.
    late = 0 if soft is not None and forced is not None and soft < forced else DAY_HOURS
    most = rate * (int(hours) + late) * HOUR_MS / 1000
    begin, end = figures["log_min"], figures["log_max"]
    now = 0 if begin is None or end is None else end - begin
    return max(0.0, most - now)


def _ratio(text: str | None, limits: tuple[int, int]) -> float | None:
    """Return a ratio that is set in per cent, within the limits that brokers keep."""
    if text is None or not text.isdigit():
        return None
    lowest, highest = limits
    return max(lowest, min(highest, int(text))) / 100
