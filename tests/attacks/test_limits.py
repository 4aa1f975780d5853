"""What one person who is signed in can take away from everybody else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.config.celery import app
from dashboard.hosting import writes as hosting
from dashboard.models import Cluster, Epoch, JobRun, ManagedGroup, ManagedMember, Role
from dashboard.reports.definitions import start_due_reports
from dashboard.reports.writes import MOST_ACTIVE, MOST_ACTIVE_A_USER
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview

pytestmark = pytest.mark.django_db(transaction=True)

SINCE = datetime(2026, 3, 13, tzinfo=UTC)


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What went to the work queue, which is somebody else's program."""
    gone: list[int] = []
    monkeypatch.setattr(app, "send_task", lambda _name, args: gone.append(*args))
    return gone


@pytest.fixture
def operator(sign_in: SignIn, hangzhou: object) -> Client:
    return sign_in(Role.OPERATOR)


def ask(client: Client, group: str) -> Any:
    body = {
        "cluster": "hangzhou",
        "group": group,
        "since": SINCE.isoformat(),
        "until": (SINCE + timedelta(hours=1)).isoformat(),
    }
    return client.post("/api/v1/reports/runs", body, content_type="application/json")


def active(count: int, name: str = "other") -> None:
    for number in range(count):
        JobRun.objects.create(
            job="report",
            cluster="hangzhou",
            group=f"{name}-{number}",
            since=SINCE,
            until=SINCE + timedelta(hours=1),
            asked_at=timezone.now(),
            asked_by_name=name,
        )


def test_one_users_reports_are_bounded(operator: Client, sent: list[int]) -> None:
    for number in range(MOST_ACTIVE_A_USER):
        assert ask(operator, f"g{number}").status_code == 202
    answer = ask(operator, "more")
    assert answer.status_code == 429
    assert f"{MOST_ACTIVE_A_USER} of your reports" in answer.json()["detail"]
    assert len(sent) == MOST_ACTIVE_A_USER
    JobRun.objects.filter(group="g0").update(state=JobRun.State.DONE)
    assert ask(operator, "more").status_code == 202


def test_reports_of_all_are_bounded(operator: Client, sent: list[int]) -> None:
    active(MOST_ACTIVE)
    answer = ask(operator, "more")
    assert answer.status_code == 429
    assert f"{MOST_ACTIVE} reports" in answer.json()["detail"]
    assert not sent


def test_the_page_names_the_bound_and_keeps_the_form(operator: Client) -> None:
    active(MOST_ACTIVE)
    fields = {"cluster": "hangzhou", "group": "more", "period": "15m"}
    answer = operator.post("/reports/start/", fields)
    assert answer.status_code == 422
    assert f"{MOST_ACTIVE} reports" in answer.content.decode()


def test_a_schedule_waits_for_room(operator: Client, sent: list[int]) -> None:
    body = {"cluster": "hangzhou", "name": "daily", "every": "day", "period": "24h"}
    made = operator.post(
        "/api/v1/reports/definitions", body, content_type="application/json"
    )
    assert made.status_code == 201, made.content
    tomorrow = timezone.now() + timedelta(days=1, minutes=10)
    active(MOST_ACTIVE)
    assert start_due_reports(tomorrow) == []
    JobRun.objects.all().delete()
    assert len(start_due_reports(tomorrow)) == 1


def test_an_invented_group_is_refused_by_its_name(
    operator: Client, write: Write, sent: list[int]
) -> None:
    document = overview()
    write(document)
    answer = ask(operator, "invented")
    assert answer.status_code == 422
    assert "invented" in answer.json()["detail"]
    assert not sent
    assert ask(operator, document["groups"][0]["group"]).status_code == 202
    assert ask(operator, "").status_code == 202


def test_a_group_that_has_gone_is_known(operator: Client, write: Write) -> None:
    write(overview())
    Epoch.objects.create(
        cluster=Cluster.objects.get(name="hangzhou"),
        group="gone",
        number=1,
        members=[],
        cause=Epoch.Cause.FIRST_SEEN,
        began_by=SINCE,
    )
    assert ask(operator, "gone").status_code == 202


def test_a_schedule_of_an_invented_group_is_refused(
    operator: Client, write: Write
) -> None:
    write(overview())
    body = {"cluster": "hangzhou", "name": "x", "group": "invented", "period": "24h"}
    answer = operator.post(
        "/api/v1/reports/definitions", body, content_type="application/json"
    )
    assert answer.status_code == 422
    assert "invented" in answer.json()["detail"]


def host(client: Client, group: str, members: int = 0) -> Any:
    body = {"topics": [{"topic": "orders"}], "members": members, "confirm": group}
    path = f"/api/v1/clusters/hangzhou/hosted/{group}"
    return client.put(path, body, content_type="application/json")


def test_one_users_hosted_groups_are_bounded(
    operator: Client, sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "MAX_GROUPS_A_USER", 3)
    for number in range(3):
        assert host(operator, f"g{number}").status_code == 200
    answer = host(operator, "more")
    assert answer.status_code == 409
    assert "operator hosts 3 groups" in answer.json()["detail"]
    assert not ManagedGroup.objects.filter(name="more").exists()
    assert host(operator, "g1").status_code == 200
    assert host(sign_in(Role.ADMIN), "more").status_code == 200


def test_hosted_groups_of_all_are_bounded(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "MAX_GROUPS", 2)
    assert host(operator, "g1").status_code == host(operator, "g2").status_code == 200
    answer = host(operator, "more")
    assert answer.status_code == 409
    assert "2 groups are hosted here" in answer.json()["detail"]


def test_members_of_all_groups_are_bounded(operator: Client, settings: Any) -> None:
    settings.ROCKETSCOPE_MAX_MEMBERS = 5
    assert host(operator, "g1", members=4).status_code == 200
    answer = host(operator, "g2", members=2)
    assert answer.status_code == 409
    assert "limit of 5 (ROCKETSCOPE_MAX_MEMBERS)" in answer.json()["detail"]
    path = "/api/v1/clusters/hangzhou/groups/g1/members"
    for status in (200, 409):
        body = {"action": "add", "confirm": "g1"}
        answer = operator.post(path, body, content_type="application/json")
        assert answer.status_code == status
    body = {"action": "remove"}
    answer = operator.post(path, body, content_type="application/json")
    assert answer.status_code == 200, "fewer members are always taken"
    assert ManagedMember.objects.count() == 5


def test_the_page_of_hosting_names_the_bound(operator: Client, settings: Any) -> None:
    settings.ROCKETSCOPE_MAX_MEMBERS = 5
    fields = {
        "name": "billing",
        "confirm": "billing",
        "members": 6,
        "topic": "orders",
        "mode": "CLUSTERING",
        "strategy": "AVG",
        "start_position": "CONSUME_FROM_LAST_OFFSET",
        "listener": "count",
    }
    answer = operator.post("/clusters/hangzhou/hosted/new/", fields)
    assert answer.status_code == 422
    assert "limit of 5" in answer.content.decode()
    assert not ManagedGroup.objects.exists()
