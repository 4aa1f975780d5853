from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone, translation

from dashboard.models import JobRun
from dashboard.models.report import LOST_AFTER
from dashboard.reports.lost import GONE, UNCLAIMED, UNCLAIMED_SECONDS, LostRuns
from dashboard.reports.words import error_word

pytestmark = pytest.mark.django_db

State = JobRun.State
SILENT = LOST_AFTER.total_seconds() + 1


class Stopwatch:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def watch() -> Stopwatch:
    return Stopwatch()


@pytest.fixture
def lost(watch: Stopwatch) -> LostRuns:
    return LostRuns(watch)


def make(
    state: str, group: str = "settlement", seen_at: datetime | None = None
) -> JobRun:
    moment = timezone.now()
    return JobRun.objects.create(
        job="report",
        cluster="hangzhou",
        group=group,
        since=moment,
        until=moment,
        asked_at=moment,
        state=state,
        seen_at=seen_at,
    )


def ending(run: JobRun) -> tuple[str, str]:
    run.refresh_from_db()
    return run.state, run.error


@pytest.mark.parametrize("jump", [timedelta(0), timedelta(days=1), -timedelta(days=1)])
def test_a_running_one_is_lost_when_nobody_writes_to_it(
    lost: LostRuns, watch: Stopwatch, jump: timedelta
) -> None:
    run = make(State.RUNNING, seen_at=timezone.now() + jump)
    assert lost.give_up() == 0, "it has only been seen once"
    watch.seconds = SILENT - 1
    assert lost.give_up() == 0
    watch.seconds = SILENT
    assert lost.give_up() == 1
    assert ending(run) == (State.FAILED, GONE)
    assert run.finished_at is not None
    assert lost.give_up() == 0


def test_one_that_is_written_to_is_kept_though_the_clock_goes_back(
    lost: LostRuns, watch: Stopwatch
) -> None:
    run = make(State.RUNNING, seen_at=timezone.now())
    for look in range(5):
        JobRun.objects.update(seen_at=timezone.now() - timedelta(hours=look))
        assert lost.give_up() == 0
        watch.seconds += SILENT
    assert ending(run) == (State.RUNNING, "")


def test_a_queued_one_makes_room_when_no_worker_takes_anything(
    lost: LostRuns, watch: Stopwatch
) -> None:
    run = make(State.QUEUED)
    lost.give_up()
    watch.seconds = UNCLAIMED_SECONDS
    assert lost.give_up() == 0
    watch.seconds += 1
    assert lost.give_up() == 1
    assert ending(run) == (State.FAILED, UNCLAIMED)
    make(State.QUEUED)  # the database would refuse a second one of the group


def test_a_queued_one_waits_while_a_worker_is_at_work(
    lost: LostRuns, watch: Stopwatch
) -> None:
    run, ahead = make(State.QUEUED), make(State.RUNNING, "clearing")
    for _look in range(200):
        JobRun.objects.filter(pk=ahead.pk).update(seen_at=timezone.now())
        assert lost.give_up() == 0
        watch.seconds += SILENT
    assert watch.seconds > 2 * UNCLAIMED_SECONDS
    assert ending(run)[0] == State.QUEUED


def test_what_has_moved_meanwhile_is_kept(lost: LostRuns, watch: Stopwatch) -> None:
    run = make(State.RUNNING, seen_at=timezone.now())
    lost.give_up()
    looks = lost._looks.copy()
    JobRun.objects.update(state=State.DONE)
    lost._looks = looks
    assert lost._end(run.pk, watch.seconds + SILENT) == 0
    assert ending(run)[0] == State.DONE


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (GONE, "执行此报告的分析进程已退出"),
        (UNCLAIMED, "60 分钟内没有分析进程领取此报告"),
        ("disk full", "disk full"),
    ],
)
def test_why_a_run_was_given_up_is_said_in_the_readers_language(
    error: str, said: str
) -> None:
    run = JobRun(error=error)
    assert error_word(run) == error
    with translation.override("zh-hans"):
        assert error_word(run) == said
