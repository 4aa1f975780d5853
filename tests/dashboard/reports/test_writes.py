from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone
from kombu.exceptions import OperationalError

from dashboard.config.celery import app
from dashboard.models import (
    AuditEntry,
    JobRun,
    Role,
    User,
)
from dashboard.models.report import ReportContent
from dashboard.reports.api_schemas import ContentIn
from dashboard.reports.request.refusals import ReportRefusedError
from dashboard.reports.writes import (
    CONTENT_FIELDS,
    RUN_TASK,
    cancel_report,
    start_report,
)

pytestmark = pytest.mark.django_db(transaction=True)

State = JobRun.State
SINCE = datetime(2026, 3, 13, tzinfo=UTC)
PERIOD = {"since": SINCE, "until": SINCE + timedelta(hours=1)}


@pytest.fixture
def olga() -> User:
    return User.objects.create(username="olga", role=Role.OPERATOR)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What went to the work queue, which is somebody else's program."""
    gone: list[tuple[str, int]] = []
    monkeypatch.setattr(app, "send_task", lambda name, args: gone.append((name, *args)))
    return gone


def start(by: User, group: str = "settlement", **period: Any) -> JobRun:
    return start_report(cluster="hangzhou", group=group, by=by, **(PERIOD | period))


def test_a_report_is_queued_audited_and_sent(
    olga: User, sent: list[tuple[str, int]]
) -> None:
    run = start(olga)
    assert (run.state, run.asked_by_name, run.job) == (State.QUEUED, "olga", "report")
    assert sent == [(RUN_TASK, run.pk)]
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.cluster, entry.target) == (
        "report.start",
        "hangzhou",
        "settlement",
    )
    assert entry.details["run"] == run.pk


def test_one_report_of_a_group_at_a_time(
    olga: User, sent: list[tuple[str, int]]
) -> None:
    run = start(olga)
    with pytest.raises(ReportRefusedError, match=r"settlement.*already"):
        start(olga)
    start(olga, group="other")
    start(olga, group="")
    JobRun.objects.filter(pk=run.pk).update(state=State.DONE)
    start(olga)
    assert len(sent) == AuditEntry.objects.count() == 4


def test_an_empty_period_is_refused(olga: User, sent: list[tuple[str, int]]) -> None:
    with pytest.raises(ReportRefusedError, match="ends before"):
        start(olga, until=SINCE)
    assert sent == []


def test_a_viewer_may_neither_start_nor_cancel(
    olga: User, sent: list[tuple[str, int]]
) -> None:
    vera = User.objects.create(username="vera", role=Role.VIEWER)
    with pytest.raises(PermissionDenied, match="vera is viewer"):
        start(vera)
    run = start(olga)
    with pytest.raises(PermissionDenied):
        cancel_report(run, by=vera)
    assert len(sent) == 1


def test_a_queue_that_is_away_fails_the_run(
    olga: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_options: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(app, "send_task", refuse)
    run = start(olga)
    run.refresh_from_db()
    assert (run.state, run.error) == (
        State.FAILED,
        "The work queue cannot be reached.",
    )


def test_a_run_that_waits_is_cancelled_at_once(
    olga: User, sent: list[tuple[str, int]]
) -> None:
    run = start(olga)
    cancel_report(run, by=olga)
    run.refresh_from_db()
    assert run.state == State.CANCELLED
    assert run.finished_at is not None
    cancel_report(run, by=olga)
    assert AuditEntry.objects.filter(action="report.cancel").count() == 1


def test_a_run_under_way_is_asked_to_stop(
    olga: User, sent: list[tuple[str, int]]
) -> None:
    run = start(olga)
    JobRun.objects.update(state=State.RUNNING, seen_at=timezone.now())
    cancel_report(run, by=olga)
    run.refresh_from_db()
    assert (run.state, run.cancel_asked) == (State.RUNNING, True)


def test_all_that_a_report_can_be_about_is_declared_alike() -> None:
    table = {each.name for each in ReportContent._meta.get_fields()}
    assert set(CONTENT_FIELDS) == table - {"cluster", "group"}
    assert table <= set(ContentIn.model_fields)
