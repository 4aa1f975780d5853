from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import (
    AuditEntry,
    JobRun,
    Role,
    User,
)
from dashboard.reports.request.refusals import ReportRefusedError
from dashboard.reports.retention import expire_reports
from dashboard.reports.writes import delete_report

from .finished import finished_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def lake(settings: Any, tmp_path: Path) -> Path:
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    return tmp_path


@pytest.fixture
def olga() -> User:
    return User.objects.create(username="olga", role=Role.OPERATOR)


def test_a_report_goes_when_its_time_is_over(lake: Path) -> None:
    now = timezone.now()
    old, young = finished_run(lake), finished_run(lake)
    JobRun.objects.filter(pk=old.pk).update(keep_until=now - timedelta(seconds=1))
    JobRun.objects.filter(pk=young.pk).update(keep_until=now + timedelta(days=1))
    assert expire_reports(now) == 1
    assert list(JobRun.objects.values_list("pk", flat=True)) == [young.pk]
    assert [path.name for path in (lake / "results").iterdir()] == [str(young.pk)]
    assert AuditEntry.objects.get().details == {"runs": [old.pk]}
    assert expire_reports(now) == 0


def test_one_without_a_time_is_kept_for_a_month(lake: Path) -> None:
    run = finished_run(lake)
    assert expire_reports(run.asked_at + timedelta(days=29)) == 0
    assert expire_reports(run.asked_at + timedelta(days=31)) == 1


def test_what_is_being_made_is_left_alone(lake: Path) -> None:
    run = finished_run(lake)
    now = timezone.now()
    JobRun.objects.update(state=JobRun.State.RUNNING, keep_until=now)
    assert expire_reports(now + timedelta(days=1)) == 0
    assert (lake / "results" / str(run.pk)).exists()


def test_a_folder_that_nobody_knows_is_swept(lake: Path) -> None:
    run = finished_run(lake)
    stray = lake / "results" / "4711" / "files"
    stray.mkdir(parents=True)
    (stray / "report.pdf").write_bytes(b"%PDF")
    assert expire_reports(timezone.now()) == 0
    assert [path.name for path in (lake / "results").iterdir()] == [str(run.pk)]


def test_deleting_takes_row_and_folder_and_is_audited(lake: Path, olga: User) -> None:
    run = finished_run(lake)
    delete_report(run, by=olga)
    assert not JobRun.objects.exists()
    assert not (lake / "results" / str(run.pk)).exists()
    assert AuditEntry.objects.get().action == "report.delete"


def test_what_is_being_made_cannot_be_deleted(lake: Path, olga: User) -> None:
    run = finished_run(lake)
    JobRun.objects.update(state=JobRun.State.RUNNING)
    with pytest.raises(ReportRefusedError, match="Cancel"):
        delete_report(run, by=olga)
    assert (lake / "results" / str(run.pk)).exists()
