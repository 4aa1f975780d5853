"""Numbers, rates and durations as people read them.

`static/js/frame/format.js` writes the same numbers in the browser; both are tested with
one list of examples, `tests/dashboard/wording/figures.json`. Commas for thousands, k
and M are the same in both languages, so that two screens can be compared.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from django.utils import timezone
from django.utils.translation import gettext as _

_STEPS: Final = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))
SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR


def count(value: float) -> str:
    """Write a whole number with commas: 161,898."""
    return f"{round(value):,}"


def compact(value: float) -> str:
    """Write a number in at most four characters, truncated: 7.9k, 128k."""
    whole = round(value)
    for size, letter in _STEPS:
        if whole >= size:
            tenths = whole * 10 // size
            return (
                f"{tenths / 10}{letter}" if tenths < 100 else f"{whole // size}{letter}"
            )
    return str(whole)


def rate(value: float) -> str:
    """Write messages per second: 0.4, 12, 3,331; the caller adds the unit."""
    if 0 < value < 10:
        return f"{max(value, 0.1):.1f}"
    return count(value)


def duration(milliseconds: float) -> str:
    """Write a duration in its two largest units: 0.8 s, 42 s, 3 m 29 s, 2 d 4 h."""
    span = max(0, int(milliseconds))
    if span < 10 * SECOND:
        return _("%(seconds)s s") % {"seconds": f"{span // 100 / 10:.1f}"}
    if span < MINUTE:
        return _("%(seconds)s s") % {"seconds": span // SECOND}
    if span < HOUR:
        return _("%(minutes)s m %(seconds)s s") % {
            "minutes": span // MINUTE,
            "seconds": f"{span % MINUTE // SECOND:02}",
        }
    if span < DAY:
        return _("%(hours)s h %(minutes)s m") % {
            "hours": span // HOUR,
            "minutes": f"{span % HOUR // MINUTE:02}",
        }
    return _("%(days)s d %(hours)s h") % {
        "days": span // DAY,
        "hours": span % DAY // HOUR,
    }


def nice_top(most: float) -> float:
    """Return the end of a scale that holds a value: 1, 2 or 5 of its power of ten."""
    power = 1.0
    while power * 10 <= most:
        power *= 10
    return next(step * power for step in (1, 2, 5, 10) if step * power >= most)


def ratio(value: float) -> str:
    """Write a skew: 3.0×."""
    return f"{value:.1f}×"


def clock(milliseconds: float) -> str:
    """Write ms since the epoch as the time of day in the zone of the request."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return f"{timezone.localtime(moment):%H:%M:%S}"


def day_and_time(milliseconds: float) -> str:
    """Write ms since the epoch as day and minute in the zone of the request."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M}"
