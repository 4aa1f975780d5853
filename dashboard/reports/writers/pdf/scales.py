"""Map values to positions on paper, and place the ticks; nothing is drawn here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from dashboard.reports.figures.layout import duration_axis
from dashboard.reports.request.axis import Axis
from dashboard.wording import numbers

_STEPS: Final = (1, 2, 2.5, 5, 10)
_SPANS: Final = tuple(
    timedelta(seconds=seconds)
    for seconds in (
        *(1, 5, 15, 30, 60, 300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600),
        *(86_400, 2 * 86_400, 7 * 86_400, 14 * 86_400, 30 * 86_400),
    )
)
_MOST_TICKS: Final = 8
_SHORTENED_FROM: Final = 10_000


@dataclass(frozen=True, slots=True)
class Tick:
    """A position on a scale, and its label."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of the sheet, in millimetres."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class TimeScale:
    """Moments of a period from left to right."""

    axis: Axis
    box: Box

    def at(self, moment: datetime) -> float:
        """Return the position of a moment, limited to the box."""
        part = (moment - self.axis.since) / (self.axis.until - self.axis.since)
        return self.box.x + min(1.0, max(0.0, part)) * self.box.width

    def ticks(self) -> list[Tick]:
        """Return ticks on round moments of the reader's zone."""
        axis = self.axis
        whole = axis.until - axis.since
        span = next((s for s in _SPANS if whole <= s * _MOST_TICKS), _SPANS[-1])
        start = axis.since.astimezone(axis.zone)
        midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
        found = []
        moment = midnight
        while moment <= axis.until:
            if moment >= axis.since:
                found.append(Tick(self.at(moment), _moment_text(moment, span)))
            # Counted on the zone's clock, so that days stay days when summer time
            # begins.
            moment = (moment.replace(tzinfo=None) + span).replace(tzinfo=axis.zone)
        return found


@dataclass(frozen=True, slots=True)
class ValueScale:
    """Values from the bottom of a box upwards."""

    low: float
    high: float
    box: Box

    def at(self, value: float) -> float:
        part = (value - self.low) / (self.high - self.low)
        return self.box.bottom - min(1.0, max(0.0, part)) * self.box.height


def count_scale(top: float, box: Box) -> tuple[ValueScale, list[Tick]]:
    """Return a scale of whole numbers from 0, and its ticks."""
    step = max(1.0, nice_step(max(top, 1) / 4))
    scale = ValueScale(0, max(top, 1) * 1.08, box)
    values = [step * number for number in range(int(scale.high // step) + 1)]
    return scale, [Tick(scale.at(value), _count_text(value, top)) for value in values]


def span_scale(top_ms: float, box: Box) -> tuple[ValueScale, list[Tick]]:
    """Return a scale of spans of time from 0, with the ticks of the page's chart."""
    axis = duration_axis(top_ms, (0, 1))
    scale = ValueScale(0, axis["range"][1], box)
    pairs = zip(axis["tickvals"], axis["ticktext"], strict=True)
    return scale, [Tick(scale.at(v), text) for v, text in pairs if v <= scale.high]


def ratio_scale(values: Sequence[float], box: Box) -> tuple[ValueScale, list[Tick]]:
    """Return a scale of ratios from 1, which is even, and its ticks."""
    top = max([*values, 1.1])
    step = nice_step((top - 1) / 4)
    scale = ValueScale(1, 1 + (top - 1) * 1.08, box)
    ratios = [1 + step * number for number in range(int((top - 1) / step) + 1)]
    return scale, [Tick(scale.at(ratio), f"{ratio:.2f}×") for ratio in ratios]


def nice_step(least: float) -> float:
    """Return the smallest 1, 2, 2.5 or 5 × a power of ten that is not below a value."""
    power = 1.0
    while power > least:
        power /= 10
    while power * 10 < least:
        power *= 10
    return next(power * step for step in _STEPS if power * step >= least * 0.999)


def _count_text(value: float, top: float) -> str:
    if top < _SHORTENED_FROM:
        return numbers.count(value)
    return numbers.compact(value) if value else "0"


def _moment_text(moment: datetime, span: timedelta) -> str:
    if span >= timedelta(days=1) or not (moment.hour or moment.minute or moment.second):
        return f"{moment:%m-%d}"
    return f"{moment:%H:%M:%S}" if span < timedelta(minutes=1) else f"{moment:%H:%M}"
