from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import JobRun
from dashboard.reports import runner
from dashboard.reports.runner import (
    claim,
    output_of,
    request_of,
    run_claimed,
)
from tests.dashboard.jobs.conftest import MakeChild

pytestmark = pytest.mark.django_db

State = JobRun.State
SINCE = datetime(2026, 3, 13, tzinfo=UTC)


@pytest.fixture(autouse=True)
def lake(settings: Any, tmp_path: Path) -> Path:
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    return tmp_path


@pytest.fixture
def run() -> JobRun:
    return JobRun.objects.create(
        pk=1,
        job="report",
        cluster="hangzhou",
        group="settlement",
        since=SINCE,
        until=SINCE + timedelta(hours=1),
        asked_at=timezone.now(),
        asked_by_name="olga",
    )


def ended(run: JobRun) -> tuple[str, str]:
    run.refresh_from_db()
    return run.state, run.error


def test_a_run_is_claimed_once(run: JobRun) -> None:
    claimed = claim(run.pk)
    assert claimed is not None
    assert claimed.state == State.RUNNING
    assert claimed.started_at is not None
    assert claim(run.pk) is None
    assert claim(999) is None


def test_a_cancelled_run_is_not_claimed(run: JobRun, make_child: MakeChild) -> None:
    JobRun.objects.update(cancel_asked=True)
    child = make_child(job1="done")
    assert not run_claimed(run.pk, child)
    assert child.pid is None


def test_the_request_says_what_was_asked(run: JobRun, lake: Path) -> None:
    request = request_of(run)
    assert (request.clusters, request.groups) == (("hangzhou",), ("settlement",))
    assert request.since_ms == 1_773_360_000_000
    assert request.until_ms == 1_773_363_600_000
    assert request.output == output_of(run) == f"{lake}/results/{run.folder}"
    run.group = ""
    assert request_of(run).groups == ()


def test_a_job_that_is_done_leaves_summary_and_size(
    run: JobRun, make_child: MakeChild, lake: Path
) -> None:
    (lake / "results" / run.folder).mkdir(parents=True)
    (lake / "results" / run.folder / "summary.json").write_text("12345")
    assert run_claimed(run.pk, make_child(job1="done"))
    assert ended(run) == (State.DONE, "")
    assert run.summary["rows"] == {"alerts": 0}
    alerts = lake / "results" / run.folder / "alerts" / "part-0.parquet"
    assert run.size_bytes == 5 + alerts.stat().st_size
    assert run.percent == 100
    assert run.finished_at is not None


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        ("fails", "the lake is empty"),
        ("dies", "the analytics process was killed by signal 9; see the worker's log"),
    ],
)
def test_a_job_that_fails_says_why(
    run: JobRun, make_child: MakeChild, behaviour: str, error: str
) -> None:
    assert run_claimed(run.pk, make_child(job1=behaviour))
    assert ended(run) == (State.FAILED, error)
    assert run.part == 0.25
    assert run.phase == "samples"


class AskingToCancel:
    """A clock that lets somebody ask for the end after its third look."""

    def __init__(self, step: float) -> None:
        self._step = step
        self._looks = count()

    def __call__(self) -> float:
        look = next(self._looks)
        if look == 3:
            JobRun.objects.update(cancel_asked=True)
        return look * self._step


def test_a_cancel_in_the_row_reaches_the_job(
    run: JobRun, make_child: MakeChild
) -> None:
    assert run_claimed(run.pk, make_child(job1="waits"), AskingToCancel(1.0))
    assert ended(run) == (State.CANCELLED, "")


def test_a_job_that_does_not_stop_is_killed(run: JobRun, make_child: MakeChild) -> None:
    child = make_child(job1="hangs")
    assert run_claimed(run.pk, child, AskingToCancel(runner.CANCEL_SECONDS))
    assert ended(run) == (State.CANCELLED, "")
    assert child.pid is None


def test_a_job_over_its_time_is_killed(run: JobRun, make_child: MakeChild) -> None:
    child = make_child(job1="hangs")
    clock = count(0.0, runner.JOB_SECONDS)
    assert run_claimed(run.pk, child, lambda: next(clock))
    assert ended(run) == (State.FAILED, "stopped after 3600 s")
    assert child.pid is None


def test_a_run_given_up_as_lost_stays_so(run: JobRun, make_child: MakeChild) -> None:
    claimed = claim(run.pk)
    assert claimed is not None
    JobRun.objects.update(state=State.FAILED)
    runner._finish(claimed, {"event": "done", "summary": {}})
    assert ended(run)[0] == State.FAILED
