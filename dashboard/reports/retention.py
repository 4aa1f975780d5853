"""Delete reports when their time is over, and what they left behind."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.db.models import Q

from dashboard.models import JobRun
from dashboard.models.audit import record
from dashboard.models.report import KEEP_DAYS
from dashboard.reports.data.output import delete_output, runs_with_output

logger = logging.getLogger(__name__)


def expire_reports(now: datetime) -> int:
    """Delete the reports whose time is over; return their number.

    Folders without a row, left by a process that was killed between the two deletions,
    are deleted as well. A row is always created before its folder.
    """
    kept = runs_with_output()
    old = Q(keep_until__lt=now) | Q(
        keep_until=None, asked_at__lt=now - timedelta(days=KEEP_DAYS)
    )
    over = list(
        JobRun.objects.filter(old)
        .exclude(state__in=JobRun.ACTIVE)
        .values_list("pk", flat=True)
    )
    if over:
        JobRun.objects.filter(pk__in=over).delete()
        record(None, "report.expire", details={"runs": over})
    known = set(JobRun.objects.values_list("pk", flat=True))
    for pk in sorted(kept - known):
        delete_output(pk)
        logger.info("run=%s output deleted", pk)
    return len(over)
