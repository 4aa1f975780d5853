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
from dashboard.reports import retention
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
    assert [path.name for path in (lake / "results").iterdir()] == [young.folder]
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
    assert (lake / "results" / run.folder).exists()


def test_a_folder_that_nobody_knows_is_kept_and_said_once(
    lake: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_told", set())
    run = finished_run(lake)
    stray = lake / "results" / "4711" / "files"
    stray.mkdir(parents=True)
    (stray / "report.pdf").write_bytes(b"%PDF")
    for _hour in range(2):
        assert expire_reports(timezone.now()) == 0
    assert (stray / "report.pdf").read_bytes() == b"%PDF"
    assert (lake / "results" / run.folder).exists()
    assert caplog.text.count("1 folders of results") == 1
    assert "may know them: 4711" in caplog.text


def test_reports_made_after_the_backup_outlive_its_restoration(lake: Path) -> None:
    run = finished_run(lake)
    JobRun.objects.all().delete()
    assert expire_reports(timezone.now()) == 0
    assert (lake / "results" / run.folder).exists()


def test_a_kill_between_the_two_deletions_leaves_what_is_found_again(
    lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = finished_run(lake)
    late = run.asked_at + timedelta(days=31)

    def killed(folder: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(retention, "delete_output", killed)
        with pytest.raises(KeyboardInterrupt):
            expire_reports(late)
    assert expire_reports(late) == 1
    assert not (lake / "results" / run.folder).exists()


def test_deleting_takes_row_and_folder_and_is_audited(lake: Path, olga: User) -> None:
    run = finished_run(lake)
    delete_report(run, by=olga)
    assert not JobRun.objects.exists()
    assert not (lake / "results" / run.folder).exists()
    assert AuditEntry.objects.get().action == "report.delete"


def test_what_is_being_made_cannot_be_deleted(lake: Path, olga: User) -> None:
    run = finished_run(lake)
    JobRun.objects.update(state=JobRun.State.RUNNING)
    with pytest.raises(ReportRefusedError, match="Cancel"):
        delete_report(run, by=olga)
    assert (lake / "results" / run.folder).exists()
