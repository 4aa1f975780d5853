"""The alerts about a group that were open within the span of its timeline.

They are listed, and drawn as marks in rows above the lanes: none over another, and
critical ones before warnings where there are more than the picture has room for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Q

from dashboard.clock.moments import as_ms, moment_of
from dashboard.models import AlertRule, AlertSubject

from .lanes import Window
from .notes import PAGE_ROOM

MOST_ALERTS: Final = 100
MOST_ROWS: Final = 4
LEAST_WIDTH: Final = 0.8
"""Per cent; a short alert is drawn as wide as this, so that it can be pointed at."""
ROW_PX: Final = 18
BAR_PX: Final = 15
_WORDS_UP_TO: Final = 45.0
"""Per cent; words begin no further right, so that they have room."""


@dataclass(frozen=True, slots=True)
class AlertMark:
    """The drawing of one alert; positions are in per cent across and in pixels down.

    `begins` says that it opened within the picture, `labelled` that its rule's name has
    room in it.
    """

    subject: AlertSubject
    x: float
    width: float
    row: int
    begins: bool
    labelled: bool

    @property
    def y(self) -> int:
        return self.row * ROW_PX + 1

    @property
    def words_x(self) -> float:
        """Where its words begin when it is pointed at."""
        return min(self.x, _WORDS_UP_TO)


@dataclass(frozen=True, slots=True)
class Alerted:
    """The newest of the span's alerts; `all` counts them, `marks` are those drawn."""

    subjects: Sequence[AlertSubject]
    all: int
    marks: Sequence[AlertMark]

    @property
    def not_listed(self) -> int:
        return self.all - len(self.subjects)

    @property
    def not_drawn(self) -> int:
        return self.all - len(self.marks)

    @property
    def height(self) -> int:
        """The pixels that the rows of marks take."""
        return (max((mark.row for mark in self.marks), default=0) + 1) * ROW_PX


NO_ALERTS: Final = Alerted((), 0, ())


def alerts_within(
    cluster: str, group: str, window: Window, room: float = PAGE_ROOM
) -> Alerted:
    """Return them with their alerts; `room` is the width of a letter in per cent."""
    still_open = Q(closed_at=None) | Q(closed_at__gte=moment_of(window.since))
    found = AlertSubject.objects.filter(
        still_open,
        alert__cluster=cluster,
        name=group,
        opened_at__lt=moment_of(window.until),
    ).exclude(alert__kind=AlertRule.Kind.BROKER)
    newest = found.select_related("alert").order_by("-opened_at", "-pk")
    subjects = list(newest[:MOST_ALERTS])
    total = len(subjects) if len(subjects) < MOST_ALERTS else found.count()
    return Alerted(subjects, total, marks_of(subjects, window, room))


def marks_of(
    subjects: Sequence[AlertSubject], window: Window, room: float
) -> list[AlertMark]:
    """Place alerts in rows, from the top, then from the left; none over another."""
    rows: list[list[AlertMark]] = [[] for _ in range(MOST_ROWS)]
    # "crit" comes before "warn".
    for subject in sorted(subjects, key=lambda s: (s.alert.severity, s.opened_at)):
        opened = as_ms(subject.opened_at)
        closed = subject.closed_at
        end = window.until if closed is None else as_ms(closed)
        x, width = window.place(opened, end, LEAST_WIDTH)
        for number, row in enumerate(rows):
            if all(x >= m.x + m.width or m.x >= x + width for m in row):
                labelled = width > (len(subject.alert.rule_name) + 2) * room
                begins = opened >= window.since
                mark = AlertMark(subject, x, width, number, begins, labelled)
                row.append(mark)
                break
    return [mark for row in rows for mark in sorted(row, key=lambda mark: mark.x)]
