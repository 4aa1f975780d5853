"""Where a run's numbers and files are stored in the lake: one folder per run.

results/<folder>/<data set>/…      written by the job
results/<folder>/files/report.pdf  made of them
"""

from __future__ import annotations

from typing import Final

from django.conf import settings

from dashboard.models import JobRun

RESULTS: Final = "results"
FILES: Final = "files"


def output_of(run: JobRun) -> str:
    """Return the folder or URL that a run writes to."""
    return f"{settings.ROCKETSCOPE_LAKE_URL.rstrip('/')}/{path_of(run)}"


def path_of(run: JobRun) -> str:
    """Return a run's folder, below the lake."""
    return f"{RESULTS}/{run.folder}"


def delete_output(folder: str) -> None:
    """Delete everything that a run wrote; an absent folder is not an error."""
    from analytics.lake.storage import open_storage

    open_storage(settings.ROCKETSCOPE_LAKE_URL).delete_tree(f"{RESULTS}/{folder}")


def folders_with_output() -> set[str]:
    """Return the folders of runs that have files in the lake."""
    from analytics.lake.storage import open_storage

    storage = open_storage(settings.ROCKETSCOPE_LAKE_URL)
    return {file.path.split("/")[1] for file in storage.list_files(RESULTS)}
