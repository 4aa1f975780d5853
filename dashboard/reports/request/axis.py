"""The period of a report as an axis that all of its figures share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo


@dataclass(frozen=True, slots=True)
class Axis:
    """The period that a page's figures share, its step, and the reader's zone."""

    since: datetime
    until: datetime
    step: timedelta
    zone: tzinfo

    def local(self, moment: datetime) -> str:
        """Return a moment as Plotly expects it: local time, no offset."""
        shown = moment.astimezone(self.zone).replace(tzinfo=None)
        return shown.isoformat(timespec="milliseconds")

    @property
    def range(self) -> list[str]:
        return [self.local(self.since), self.local(self.until)]

    def steps(self) -> list[datetime]:
        """Return the begin of each step of the period."""
        count = -(-(self.until - self.since) // self.step)
        return [self.since + self.step * number for number in range(count)]

    def end_of(self, at: datetime) -> datetime:
        """Return the end of a step; that of the last may be cut short."""
        return min(at + self.step, self.until)
