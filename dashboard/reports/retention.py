"""Delete reports when their time is over, and what they left behind."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q

from dashboard.models import JobRun
from dashboard.models.audit import record
from dashboard.models.report import KEEP_DAYS
from dashboard.reports.data.output import delete_output, folders_with_output

logger = logging.getLogger(__name__)

MOST_NAMED: Final = 20
_told: set[str] = set()
"""Folders without a row that were logged."""


def expire_reports(now: datetime) -> int:
    """Delete the reports whose time is over; return their number.

    Folders go first, so that a process killed in between leaves rows, which are found
    again. A folder without a row is kept and counted: it may be a report made after the
    backup that this database was restored from, or of another installation.
    """
    old = Q(keep_until__lt=now) | Q(
        keep_until=None, asked_at__lt=now - timedelta(days=KEEP_DAYS)
    )
    over = dict(
        JobRun.objects.filter(old)
        .exclude(state__in=JobRun.ACTIVE)
        .values_list("pk", "folder")
    )
    for folder in over.values():
        delete_output(folder)
    if over:
        JobRun.objects.filter(pk__in=over).delete()
        record(None, "report.expire", details={"runs": list(over)})
    _tell_of_strangers()
    return len(over)


def _tell_of_strangers() -> None:
    """Log the folders that no row knows, each once in the life of this process."""
    # Folders are listed first: a row is always created before its folder.
    found = folders_with_output()
    _told.intersection_update(found)
    strangers = found - set(JobRun.objects.values_list("folder", flat=True)) - _told
    if strangers:
        logger.warning(
            "%d folders of results in the lake have no report in the database and are "
            "kept, because another database may know them: %s%s",
            len(strangers),
            ", ".join(sorted(strangers)[:MOST_NAMED]),
            ", …" if len(strangers) > MOST_NAMED else "",
        )
        _told.update(strangers)
