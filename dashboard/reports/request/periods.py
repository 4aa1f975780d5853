"""The period that was requested for a report, and the one that was computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dashboard.models import JobRun
from dashboard.reports.request.axis import Axis
from dashboard.reports.request.refusals import ReportRefusedError

LAST: Final[Mapping[str, tuple[timedelta, Promise]]] = {
    "15m": (timedelta(minutes=15), gettext_lazy("last 15 minutes")),
    "1h": (timedelta(hours=1), gettext_lazy("last hour")),
    "6h": (timedelta(hours=6), gettext_lazy("last 6 hours")),
    "24h": (timedelta(hours=24), gettext_lazy("last 24 hours")),
    "48h": (timedelta(hours=48), gettext_lazy("last 48 hours")),
    "7d": (timedelta(days=7), gettext_lazy("last 7 days")),
    "30d": (timedelta(days=30), gettext_lazy("last 30 days")),
}
CUSTOM: Final = "custom"
DEFAULT: Final = "1h"


def span_of(name: str) -> timedelta:
    """Return a named period's length, or refuse it, listing the known names."""
    if name not in LAST:
        raise ReportRefusedError(
            _("There is no period “%(name)s”; there are %(known)s.")
            % {"name": name[:40], "known": ", ".join(LAST)},
            "period",
        )
    return LAST[name][0]


@dataclass(frozen=True, slots=True)
class Period:
    """A span of time, its end not included."""

    since: datetime
    until: datetime


def read_period(fields: Mapping[str, str], now: datetime, zone: tzinfo) -> Period:
    """Read the fields `period`, and for `custom` also `since` and `until`.

    The two moments are local times of `zone`, as a browser's field sends them.
    """
    name = fields.get("period", DEFAULT)
    if name != CUSTOM:
        return Period(now - span_of(name), now)
    since, until = (_moment(fields, each, zone) for each in ("since", "until"))
    if since >= until:
        raise ReportRefusedError(_("The period ends before it begins."), "until")
    return Period(since, until)


def axis_of(run: JobRun, zone: tzinfo) -> Axis:
    """Return the period that was computed, which starts on a whole step."""
    summary = run.summary
    return Axis(
        since=datetime.fromisoformat(summary["since"]),
        until=datetime.fromisoformat(summary["until"]),
        step=timedelta(seconds=summary["step_seconds"]),
        zone=zone,
    )


def _moment(fields: Mapping[str, str], name: str, zone: tzinfo) -> datetime:
    text = fields.get(name, "")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ReportRefusedError(
            _("“%(text)s” is not a date and time.") % {"text": text[:40]}, name
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
