"""The files that were requested for a run: made once, kept beside its numbers.

They are made when the job has ended, in the language and zone that the run names, by
the process that runs jobs. A run whose process is killed meanwhile is ready all the
same: a file that is not kept is made on request.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import timezone, translation

from dashboard.models import JobRun, ReportFile
from dashboard.reports.data.output import FILES, path_of
from dashboard.reports.report import Report
from dashboard.wording.zones import zone_label

from .formats import (
    FORMATS,
    FileOptions,
    file_name,
    table_named,
)

logger = logging.getLogger(__name__)


def keep_files(run: JobRun) -> list[ReportFile]:
    """Make the files that were requested for a finished run, and return their rows.

    A file that cannot be made gets a row with the reason; the others are made.
    """
    if not run.is_ready:
        return []
    zone = ZoneInfo(run.zone)
    with (
        translation.override(run.language),
        timezone.override(zone),
        tempfile.TemporaryDirectory(prefix="rocketscope-") as folder,
    ):
        report = Report(run, zone, zone_label())
        options = FileOptions(table_named(report, ""), run.paper)
        return [
            _kept(report, form, options, Path(folder) / form)
            for form in run.formats
            if form in FORMATS
        ]


def open_kept(run: JobRun, form: str) -> tuple[ReportFile, Any] | None:
    """Return a kept file's row and an open stream; None where there is none."""
    from analytics.lake.storage import open_storage

    row = run.files.filter(format=form, error="").first()
    if row is None:
        return None
    storage = open_storage(settings.ROCKETSCOPE_LAKE_URL)
    try:
        return row, storage.open_input(f"{path_of(run)}/{row.path}")
    except FileNotFoundError:
        return None


def _kept(report: Report, form: str, options: FileOptions, local: Path) -> ReportFile:
    from analytics.lake.storage import open_storage

    run = report.run
    path = f"{FILES}/{file_name(report, FORMATS[form], options.table)}"
    error = ""
    try:
        FORMATS[form].write(report, local, options)
        storage = open_storage(settings.ROCKETSCOPE_LAKE_URL)
        storage.write_file(f"{path_of(run)}/{path}", local)
    except Exception as problem:
        # Whatever prevents one file (a full disk, a limit of its library) is shown on
        # the page and must not prevent the others.
        logger.exception("run=%s format=%s not made", run.pk, form)
        error = str(problem) or type(problem).__name__
    row, _made = ReportFile.objects.update_or_create(
        run=run,
        format=form,
        defaults={
            "path": "" if error else path,
            "size_bytes": None if error else local.stat().st_size,
            "made_at": timezone.now(),
            "error": error,
        },
    )
    return row
