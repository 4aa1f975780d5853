from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.labs.runs import (
    Ending,
    claim,
    finish,
    give_up_lost,
    left_over_runs,
    note_swept,
    save,
    waiting_runs,
)
from dashboard.models import Cluster, LabRun
from dashboard.models.lab import LAB_LOST_AFTER

pytestmark = pytest.mark.django_db

STEP = {"key": "sent", "params": {"topic": "T", "count": 3}, "at_ms": 1}


def waiting(lab: str = "F5", **values: object) -> LabRun:
    cluster, _made = Cluster.objects.get_or_create(name="embedded", embedded=True)
    fields = {"asked_at": timezone.now(), "asked_by_name": "olga", **values}
    return LabRun.objects.create(cluster=cluster, lab=lab, **fields)


def test_of_two_workers_one_gets_the_run() -> None:
    run = waiting()
    assert waiting_runs(["embedded"]) == [run.pk]
    mine = claim(run.pk, "w1")
    assert mine is not None
    assert (mine.state, mine.worker) == ("running", "w1")
    assert claim(run.pk, "w2") is None
    assert waiting_runs(["embedded"]) == []


def test_runs_are_taken_oldest_first_and_only_on_ones_own_clusters() -> None:
    later = waiting("F1")
    earlier = waiting("F2", asked_at=timezone.now() - timedelta(minutes=1))
    assert waiting_runs(["embedded"]) == [earlier.pk, later.pk]
    assert waiting_runs(["elsewhere"]) == []


def test_a_cancelled_run_is_not_taken() -> None:
    run = waiting(cancel_asked=True)
    assert claim(run.pk, "w1") is None


def test_steps_are_saved_and_the_standing_told() -> None:
    run = waiting()
    claim(run.pk, "w1")
    standing = save(run.pk, "w1", [STEP])
    assert (standing.ours, standing.cancel_asked) == (True, False)
    LabRun.objects.update(cancel_asked=True)
    assert save(run.pk, "w1", [STEP]).cancel_asked
    run.refresh_from_db()
    assert run.steps == [STEP]


def test_a_worker_that_lost_the_run_writes_nothing() -> None:
    run = waiting()
    claim(run.pk, "w1")
    LabRun.objects.update(state=LabRun.State.FAILED)
    assert not save(run.pk, "w1", [STEP]).ours
    assert not finish(run.pk, "w1", Ending(LabRun.State.DONE))
    run.refresh_from_db()
    assert (run.state, run.steps) == ("failed", [])


def test_an_ending_is_written_once() -> None:
    run = waiting()
    claim(run.pk, "w1")
    claims = [{"key": "F5.rule", "params": {"count": 11}, "seen": True}]
    ending = Ending(LabRun.State.DONE, claims, "idle_members", steps=[STEP])
    assert finish(run.pk, "w1", ending)
    assert not finish(run.pk, "w1", Ending(LabRun.State.FAILED))
    run.refresh_from_db()
    assert run.all_seen
    assert not run.is_active
    assert (run.finding, run.steps) == ("idle_members", [STEP])


def test_a_run_whose_worker_fell_silent_is_lost() -> None:
    run = waiting()
    claim(run.pk, "w1")
    run.refresh_from_db()
    assert not run.is_lost(timezone.now())
    assert run.is_lost(timezone.now() + timedelta(seconds=21))


def silent_for(ago: timedelta) -> LabRun:
    run = waiting()
    claim(run.pk, "w1")
    LabRun.objects.filter(pk=run.pk).update(seen_at=timezone.now() - ago)
    return run


def test_looking_for_what_is_left_over_writes_only_when_there_is_something() -> None:
    run = silent_for(LAB_LOST_AFTER / 2)
    with CaptureQueriesContext(connection) as asked:
        assert left_over_runs(["embedded"]) == []
    statements = {query["sql"].split()[0] for query in asked.captured_queries}
    assert statements == {"SELECT"}
    LabRun.objects.update(seen_at=timezone.now() - 2 * LAB_LOST_AFTER)
    assert left_over_runs(["elsewhere"]) == []
    (found,) = left_over_runs(["embedded"])
    assert (found.pk, found.state, found.left_over) == (run.pk, "failed", True)
    assert found.error == "the worker that played this has gone"
    assert left_over_runs(["embedded"]) == [run], "until it was swept"
    note_swept(run.pk)
    assert left_over_runs(["embedded"]) == []


def test_a_run_heard_of_while_it_was_looked_for_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = silent_for(2 * LAB_LOST_AFTER)

    look = QuerySet.exists

    def look_and_hear(rows: QuerySet[LabRun]) -> bool:
        found = look(rows)
        LabRun.objects.update(seen_at=timezone.now())
        return found

    monkeypatch.setattr(QuerySet, "exists", look_and_hear)
    assert give_up_lost() == 0
    run.refresh_from_db()
    assert (run.state, run.left_over) == ("running", False)
