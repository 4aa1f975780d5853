from __future__ import annotations

import os

import pytest

from analytics.requests import JobRequest
from dashboard.jobs.child import AnalyticsChild, ChildEndedError

from .conftest import MakeChild

REQUEST = JobRequest("report", "/lake", "/out")


def words(child: AnalyticsChild, name: str) -> list[str]:
    events = child.run(name, REQUEST, poll_seconds=0.05)
    return [event["event"] for event in events if event is not None]


def test_nothing_runs_until_a_job_comes(make_child: MakeChild) -> None:
    assert make_child().pid is None


def test_one_that_was_warmed_takes_the_job(make_child: MakeChild) -> None:
    child = make_child(job1="done")
    child.warm()
    pid = child.pid
    assert pid is not None
    assert words(child, "1") == ["progress", "done"]
    assert child.pid == pid


def test_events_come_up_to_the_end_of_the_job(make_child: MakeChild) -> None:
    assert words(make_child(job1="done"), "1") == ["progress", "done"]


def test_the_next_job_meets_the_same_process(make_child: MakeChild) -> None:
    child = make_child(job1="done", job2="fails")
    assert words(child, "1")[-1] == "done"
    pid = child.pid
    assert words(child, "2")[-1] == "failed"
    assert child.pid == pid is not None


def test_what_is_no_event_of_this_job_is_passed_over(
    make_child: MakeChild, caplog: pytest.LogCaptureFixture
) -> None:
    assert words(make_child(job1="prints"), "1") == ["progress", "done"]
    assert "not an event" in caplog.text


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [("dies", "killed by signal 9"), ("exits", "ended with exit code 3")],
)
def test_a_process_that_ends_in_a_job_is_told_and_replaced(
    make_child: MakeChild, behaviour: str, message: str
) -> None:
    child = make_child(job1=behaviour, job2="done")
    with pytest.raises(ChildEndedError, match=message):
        words(child, "1")
    assert child.pid is None
    assert words(child, "2")[-1] == "done"


def test_one_that_ended_for_idleness_is_replaced_unseen(make_child: MakeChild) -> None:
    child = make_child(job1="done_and_idle", job2="done")
    assert words(child, "1")[-1] == "done"
    assert words(child, "2")[-1] == "done"


def test_a_cancel_reaches_the_job(make_child: MakeChild) -> None:
    child = make_child(job1="waits")
    seen = []
    for event in child.run("1", REQUEST, poll_seconds=0.05):
        if event is not None:
            seen.append(event["event"])
        elif seen == ["progress"]:
            child.cancel("1")
    assert seen == ["progress", "cancelled"]


def test_cancelling_without_a_process_is_no_error(make_child: MakeChild) -> None:
    child = make_child()
    child.cancel("1")
    child.stop()
    child.kill()
    assert child.pid is None


def test_whoever_kills_the_group_of_the_worker_kills_it_too(
    make_child: MakeChild,
) -> None:
    child = make_child(job1="done")
    words(child, "1")
    assert child.pid is not None
    assert os.getpgid(child.pid) == os.getpgrp()


def test_stop_ends_the_process(make_child: MakeChild) -> None:
    child = make_child(job1="done")
    words(child, "1")
    child.stop()
    assert child.pid is None
