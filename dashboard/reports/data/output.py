"""Where a run's numbers and files are stored in the lake: one folder per run.

results/<run>/<data set>/…      written by the job
results/<run>/files/report.pdf  made of them
"""

from __future__ import annotations

from typing import Final

from django.conf import settings

from dashboard.models import JobRun

RESULTS: Final = "results"
FILES: Final = "files"


def output_of(run: JobRun) -> str:
    """Return the folder or URL that a run writes to."""
    return f"{settings.ROCKETSCOPE_LAKE_URL.rstrip('/')}/{RESULTS}/{run.pk}"


def delete_output(pk: int) -> None:
    """Delete everything that a run wrote; an absent folder is not an error."""
    from analytics.lake.storage import open_storage

    open_storage(settings.ROCKETSCOPE_LAKE_URL).delete_tree(f"{RESULTS}/{pk}")


def runs_with_output() -> set[int]:
    """Return the keys of the runs that have files in the lake."""
    from analytics.lake.storage import open_storage

    storage = open_storage(settings.ROCKETSCOPE_LAKE_URL)
    names = {file.path.split("/")[1] for file in storage.list_files(RESULTS)}
    return {int(name) for name in names if name.isdecimal()}
