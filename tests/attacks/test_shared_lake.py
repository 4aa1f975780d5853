"""Two databases that keep the results of their reports in one lake."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from dashboard.models import JobRun
from dashboard.reports.data.output import output_of
from dashboard.reports.retention import expire_reports
from tests.dashboard.reports.finished import finished_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lake(settings: Any, tmp_path: Path) -> Path:
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    return tmp_path


def same_number_elsewhere(run: JobRun) -> JobRun:
    """Put a run of another database, or of a restored one, in the place of a run."""
    JobRun.objects.filter(pk=run.pk).delete()
    return JobRun.objects.create(
        pk=run.pk,
        job=run.job,
        cluster=run.cluster,
        group=run.group,
        since=run.since,
        until=run.until,
        state=JobRun.State.DONE,
        asked_at=timezone.now(),
    )


def files_of(run: JobRun) -> list[Path]:
    return sorted(path for path in Path(output_of(run)).rglob("*") if path.is_file())


def test_a_run_does_not_read_or_overwrite_results_of_its_number(lake: Path) -> None:
    ours = finished_run(lake)
    assert files_of(ours)
    theirs = same_number_elsewhere(ours)
    assert output_of(theirs) != output_of(ours)
    assert files_of(theirs) == []


def test_an_expired_run_takes_no_results_of_others_with_it(lake: Path) -> None:
    ours = finished_run(lake)
    kept = files_of(ours)
    theirs = same_number_elsewhere(ours)
    assert expire_reports(theirs.asked_at + timedelta(days=31)) == 1
    assert files_of(ours) == kept


def test_runs_of_earlier_versions_keep_their_folders(lake: Path) -> None:
    old = finished_run(lake)
    migration = import_module("dashboard.migrations.0018_report_folders")
    with connection.schema_editor() as editor:
        migration.name_by_number(apps, editor)
    old.refresh_from_db()
    assert output_of(old) == f"{lake}/results/{old.pk}"
