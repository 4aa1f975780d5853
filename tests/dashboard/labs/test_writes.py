from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from dashboard.labs.runs import give_up_lost
from dashboard.labs.writes import (
    RUNS_KEPT,
    LabBusyError,
    LabRefusedError,
    UnknownLabError,
    cancel_lab,
    start_lab,
)
from dashboard.models import (
    AuditEntry,
    Cluster,
    LabRun,
    Role,
    User,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def embedded(settings: Any) -> Cluster:
    settings.ROCKETSCOPE_REDIS_URL = ""
    return Cluster.objects.create(name="embedded", embedded=True)


@pytest.fixture
def olga() -> User:
    return User.objects.create_user("olga", role=Role.OPERATOR)


def test_a_start_is_queued_and_audited(embedded: Cluster, olga: User) -> None:
    run = start_lab(olga, embedded, "f5", parameters={"queues": 3}, linger_s=2)
    assert (run.lab, run.state, run.parameters) == ("F5", "queued", {"queues": 3})
    entry = AuditEntry.objects.get(action="lab.start")
    assert (entry.actor, entry.cluster, entry.target) == (olga, "embedded", "F5")
    assert entry.details == {"run": run.pk, "parameters": {"queues": 3}}


def test_a_lab_is_played_once_at_a_time(embedded: Cluster, olga: User) -> None:
    start_lab(olga, embedded, "F5")
    with pytest.raises(LabBusyError, match="F5 is already being played"):
        start_lab(olga, embedded, "F5")
    assert start_lab(olga, embedded, "F1").is_active
    assert AuditEntry.objects.filter(action="lab.start").count() == 2


def test_a_viewer_may_not_start_or_cancel(embedded: Cluster, olga: User) -> None:
    vera = User.objects.create_user("vera", role=Role.VIEWER)
    with pytest.raises(PermissionDenied, match="vera is viewer"):
        start_lab(vera, embedded, "F5")
    run = start_lab(olga, embedded, "F5")
    with pytest.raises(PermissionDenied):
        cancel_lab(vera, run)


def test_a_cluster_of_others_is_left_alone(olga: User) -> None:
    cluster = Cluster.objects.create(name="production")
    with pytest.raises(LabRefusedError, match="embedded cluster only; “production”"):
        start_lab(olga, cluster, "F5")
    assert not LabRun.objects.exists()


@pytest.mark.parametrize(
    ("lab", "asked", "error", "words"),
    [
        ("F9", {"parameters": {}, "linger_s": 0}, UnknownLabError, "unknown lab 'F9'"),
        (
            "F5",
            {"parameters": {"queues": 2}, "linger_s": 0},
            LabRefusedError,
            "queues is 2, allowed 3 to 256",
        ),
        (
            "F5",
            {"parameters": {"colour": 2}, "linger_s": 0},
            LabRefusedError,
            "F5 has no 'colour'",
        ),
        (
            "F5",
            {"parameters": {}, "linger_s": 31},
            LabRefusedError,
            "linger_s is 31, allowed 0 to 30",
        ),
    ],
)
def test_what_a_lab_would_refuse_is_refused_at_once(
    olga: User, lab: str, asked: dict[str, Any], error: type[Exception], words: str
) -> None:
    cluster = Cluster.objects.create(name="embedded", embedded=True)
    with pytest.raises(error, match=words):
        start_lab(olga, cluster, lab, **asked)
    assert not LabRun.objects.exists()


def test_a_waiting_run_is_cancelled_at_once(embedded: Cluster, olga: User) -> None:
    run = start_lab(olga, embedded, "F5")
    cancel_lab(olga, run)
    run.refresh_from_db()
    assert run.state == "cancelled"
    cancel_lab(olga, run)
    assert AuditEntry.objects.filter(action="lab.cancel").count() == 1


def test_a_running_run_is_asked_to_end(embedded: Cluster, olga: User) -> None:
    run = start_lab(olga, embedded, "F5")
    LabRun.objects.update(state=LabRun.State.RUNNING, seen_at=timezone.now())
    cancel_lab(olga, run)
    run.refresh_from_db()
    assert (run.state, run.cancel_asked) == ("running", True)


def test_a_lost_run_makes_room(embedded: Cluster, olga: User) -> None:
    run = start_lab(olga, embedded, "F5")
    long_ago = timezone.now() - timedelta(minutes=1)
    LabRun.objects.update(state=LabRun.State.RUNNING, seen_at=long_ago)
    assert start_lab(olga, embedded, "F5").is_active
    run.refresh_from_db()
    assert (run.state, run.error) == ("failed", "the worker that played this has gone")
    assert run.left_over
    assert give_up_lost() == 0


def test_old_runs_are_forgotten(embedded: Cluster, olga: User) -> None:
    for _ in range(RUNS_KEPT + 3):
        cancel_lab(olga, start_lab(olga, embedded, "F5"))
    assert LabRun.objects.count() == RUNS_KEPT
