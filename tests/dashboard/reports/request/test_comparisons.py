"""Members more or fewer and options of strategies: from the form to the job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dashboard.config.celery import app
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import (
    Cluster,
    Epoch,
    JobRun,
    ManagedGroup,
    ReportDefinition,
    Role,
)
from dashboard.reports.runner import request_of
from tests.dashboard.conftest import SignIn
from tests.dashboard.reports.finished import SINCE, moment

pytestmark = pytest.mark.django_db

FIELDS = {"cluster": "hangzhou", "group": "settlement", "period": "15m"}


@pytest.fixture(autouse=True)
def surroundings(
    hangzhou: ClusterSettings, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster and a lake; the work queue is somebody else's program."""
    monkeypatch.setattr(app, "send_task", lambda *_args, **_options: None)


@pytest.mark.parametrize(
    ("text", "added"),
    [("+1, -2", [1, -2]), ("1 1", [1]), ("＋3，−1", [3, -1]), ("", [])],
)
def test_the_job_is_asked_for_members_more_or_fewer(
    sign_in: SignIn, text: str, added: list[int]
) -> None:
    fields = FIELDS | {
        "added_members": text,
        "rooms": "hz1，hz2",
        "virtual_nodes": "40",
    }
    sign_in(Role.OPERATOR).post("/reports/start/", fields)
    run = JobRun.objects.get()
    assert run.added_members == added
    request = request_of(run)
    assert request.added_members == tuple(added)
    assert request.options == {
        "MACHINE_ROOM": {"rooms": ["hz1", "hz2"]},
        "CONSISTENT_HASH": {"virtual_nodes": 40},
    }


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"added_members": "many"}, "“many” is not a number such as +1 or -2"),
        ({"added_members": "1.5"}, "“1.5” is not a number"),
        ({"added_members": "0"}, "0 is not between -100 and +100"),
        ({"added_members": "+101"}, "101 is not between -100 and +100"),
        ({"added_members": "1,2,3,4,5"}, "5 numbers, at most 4"),
        ({"virtual_nodes": "1001"}, "Virtual nodes: 1001 is not between 1 and 1000"),
        ({"virtual_nodes": "few"}, "Virtual nodes: “few” is not a whole number"),
        ({"virtual_nodes": "0"}, "Virtual nodes: 0 is not between 1 and 1000"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_limit(
    sign_in: SignIn, wrong: dict[str, str], message: str
) -> None:
    client = sign_in(Role.OPERATOR)
    answer = client.post("/reports/start/", FIELDS | wrong, follow=True)
    assert message in answer.content.decode().replace("&#x27;", "'")
    named = FIELDS | {"name": "weekly", "at": "08:05", "on_day": "1"} | wrong
    answer = client.post("/reports/definitions/new/", named)
    assert answer.status_code == 422
    text = answer.content.decode()
    assert message in text
    kept = next(iter(wrong.values()))
    assert f'value="{kept}"' in text, "what was entered stays in the field"
    assert not JobRun.objects.exists()
    assert not ReportDefinition.objects.exists()


def test_a_definition_keeps_them_and_its_runs_have_them(sign_in: SignIn) -> None:
    client = sign_in(Role.OPERATOR)
    more = {"name": "weekly", "at": "08:05", "on_day": "1", "formats": "csv"}
    fields = FIELDS | more | {"added_members": "1,-1", "rooms": "hz1"}
    assert client.post("/reports/definitions/new/", fields).status_code == 302
    definition = ReportDefinition.objects.get()
    assert definition.added_members == [1, -1]
    form = client.get(f"/reports/definitions/{definition.pk}/").content.decode()
    assert 'value="+1, -1"' in form
    assert 'value="hz1"' in form
    client.post(f"/reports/definitions/{definition.pk}/run/")
    run = JobRun.objects.get()
    assert (run.added_members, run.options) == (
        [1, -1],
        {"MACHINE_ROOM": {"rooms": ["hz1"]}},
    )


def test_the_api_takes_options_of_any_strategy(sign_in: SignIn) -> None:
    client = sign_in(Role.OPERATOR)
    wish: dict[str, Any] = {
        "cluster": "hangzhou",
        "group": "settlement",
        "since": "2026-03-13T00:00Z",
        "until": "2026-03-13T01:00Z",
        "added_members": [2],
        "options": {"CONFIG": {"config": {"a": [["orders", "broker-a", 0]]}}},
    }
    url = "/api/v1/reports/runs"
    made = client.post(url, wish, content_type="application/json")
    assert made.status_code == 202
    assert JobRun.objects.get().options == wish["options"]
    for wrong in ({"NO_SUCH": {}}, {"MACHINE_ROOM": {"floor": 1}}):
        answer = client.post(
            url, wish | {"options": wrong}, content_type="application/json"
        )
        assert answer.status_code == 422
        assert next(iter(wrong)) in answer.json()["detail"]


def hosted(**options: Any) -> None:
    cluster, _made = Cluster.objects.get_or_create(name="hangzhou")
    ManagedGroup.objects.create(
        cluster=cluster, name="settlement", strategy_options=options
    )
    Epoch.objects.create(
        cluster=cluster,
        group="settlement",
        number=7,
        members=[{"client_id": f"10.0.0.1@settlement-{n}.9"} for n in (1, 2)],
        cause=Epoch.Cause.FIRST_SEEN,
        began_by=SINCE,
    )


def test_options_of_a_hosted_group_are_known(sign_in: SignIn) -> None:
    hosted(
        virtual_nodes=40,
        rooms=["hz1"],
        config={"1": [["orders", "broker-a", "0"]], "9": [["orders", "broker-a", "1"]]},
    )
    client = sign_in(Role.OPERATOR)
    wish = {"group": "settlement", "since": SINCE.isoformat()}
    wish |= {"cluster": "hangzhou", "until": moment(10).isoformat()}
    client.post("/api/v1/reports/runs", wish, content_type="application/json")
    assert JobRun.objects.get().options == {
        "CONSISTENT_HASH": {"virtual_nodes": 40, "known": True},
        "MACHINE_ROOM": {"rooms": ["hz1"], "known": True},
        "CONFIG": {
            "config": {"10.0.0.1@settlement-1.9": [["orders", "broker-a", 0]]},
            "known": True,
        },
    }


def test_a_strategy_that_was_in_use_is_told_of_when_another_is(
    sign_in: SignIn,
) -> None:
    """The group had lists in the period and is divided evenly today."""
    hosted()
    Epoch.objects.update(
        members=[{"client_id": "10.0.0.1@settlement-1.9", "strategy": "CONFIG"}],
        options={"config": {"1": [["orders", "broker-a", "0"]]}},
    )
    sign_in(Role.OPERATOR).post("/reports/start/", FIELDS)
    assert JobRun.objects.get().options == {"CONFIG": {"known": True}}


def test_what_is_entered_goes_before_what_is_known(sign_in: SignIn) -> None:
    hosted(virtual_nodes=40)
    sign_in(Role.OPERATOR).post("/reports/start/", FIELDS | {"virtual_nodes": "7"})
    assert JobRun.objects.get().options["CONSISTENT_HASH"] == {"virtual_nodes": 7}
