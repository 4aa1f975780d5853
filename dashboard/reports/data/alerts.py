"""The alerts that a report holds, as its pages and files show them.

They are as they were when the report was made (`dashboard.reports.alert_records`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.reports.report import Report, once
from dashboard.wording import numbers
from dashboard.wording.cells import in_zone

from .results import has_table, read_rows
from .tables import ALERTS, severity_word
from .twins import clock

MOST_ROWS: Final = 5_000
"""Groups and brokers of alerts that a report holds."""
LISTED: Final = 100
"""Those that are listed on pages and on paper; other files hold all."""

ALERTS_ALL: Final = "alerts_all"
ALERTS_DELETED_BEFORE: Final = "alerts_deleted_before"
"""Of a run's summary: how many there were, and from when on they had been kept."""


@dataclass(frozen=True, slots=True)
class AlertLine:
    """One group or broker of an alert, in words; times are in the reader's zone.

    `closed` is empty for one that was open when the report was made.
    """

    alert: int
    name: str
    is_group: bool
    opened: str
    closed: str
    level: str
    severity: str
    rule: str
    finding: str
    team: str
    acknowledged: str

    @property
    def text(self) -> str:
        """All of it but what it is about, in one line."""
        ended = self.closed or _("still open when the report was made")
        facts = [f"{self.opened} – {ended}", self.finding]
        if self.team:
            facts.append(_("Team: %(name)s") % {"name": self.team})
        if self.acknowledged:
            facts.append(_("acknowledged by %(who)s") % {"who": self.acknowledged})
        return " · ".join(filter(None, facts))


@dataclass(frozen=True, slots=True)
class ReportAlerts:
    """The alerts of a report: the newest `lines`, oldest first.

    `all` counts them in the period, `kept` those that the report holds. `is_kept` is
    False for a report made before reports held alerts. `notes` say what lacks, and
    `listed` which of those that are held are not in `lines`.
    """

    is_kept: bool
    all: int
    kept: int
    lines: Sequence[AlertLine]
    notes: Sequence[str]

    @property
    def listed(self) -> str:
        if len(self.lines) == self.kept:
            return ""
        text = _(
            "The newest %(n)s are listed; the CSV, XLSX and Parquet files have all "
            "%(all)s that the report holds."
        )
        return text % {
            "n": numbers.count(len(self.lines)),
            "all": numbers.count(self.kept),
        }


@once
def alerts_of(report: Report) -> ReportAlerts:
    """Return the alerts of a report's period, as they were when it was made."""
    if not has_table(report, ALERTS.key):
        said = _("This report was made before reports held alerts: it has none.")
        return ReportAlerts(False, 0, 0, (), (said,))
    rows = read_rows(report, ALERTS.key, ALERTS.order)
    total = report.run.summary.get(ALERTS_ALL, len(rows))
    lines = [_line(report, row) for row in rows[-LISTED:]]
    notes = _notes(report, len(rows), total)
    return ReportAlerts(True, total, len(rows), lines, notes)


def deleted_before(report: Report) -> datetime | None:
    """Return from when on alerts were kept, if the period began before that."""
    text = report.run.summary.get(ALERTS_DELETED_BEFORE)
    return None if text is None else datetime.fromisoformat(text)


def _notes(report: Report, kept: int, total: int) -> list[str]:
    kept_since = deleted_before(report)
    notes = []
    if not total and kept_since is None:
        notes.append(_("No alert was open in this period."))
    elif not total:
        notes.append(_("No alert of this period is known."))
    if kept < total:
        text = _("There were %(all)s, of which the report holds the newest %(n)s.")
        notes.append(text % {"n": numbers.count(kept), "all": numbers.count(total)})
    if kept_since is not None:
        text = _(
            "Alerts that closed before %(when)s were already deleted when the report "
            "was made."
        )
        notes.append(text % {"when": clock(kept_since, report.zone)})
    return notes


def _line(report: Report, row: dict[str, Any]) -> AlertLine:
    words = {column.key: column.say for column in ALERTS.columns}

    def local(moment: datetime | None) -> str:
        if moment is None:
            return ""
        return f"{in_zone(moment, report.zone):%Y-%m-%d %H:%M:%S}"

    return AlertLine(
        alert=row["alert"],
        name=row["group"] or row["broker"],
        is_group=row["group"] is not None,
        opened=local(row["opened_at"]),
        closed=local(row["closed_at"]),
        level=row["severity"],
        severity=severity_word(row["severity"]),
        rule=row["rule"],
        finding=words["finding"](row["finding"]) if row["finding"] else "",
        team=row["team"] or "",
        acknowledged=row["acknowledged_by"] or "",
    )
