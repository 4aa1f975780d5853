from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dashboard.models import Cluster, LabRun, Role
from tests.dashboard.conftest import SignIn

pytestmark = pytest.mark.django_db

RUNS = "/api/v1/clusters/embedded/labs/F5/runs"


@pytest.fixture
def embedded(settings: Any) -> Cluster:
    settings.ROCKETSCOPE_REDIS_URL = ""
    return Cluster.objects.create(name="embedded", embedded=True)


def post(client: Client, path: str, body: Any = None) -> Any:
    return client.post(path, body or {}, content_type="application/json")


def test_labs_are_listed_with_their_numbers(sign_in: SignIn) -> None:
    labs = sign_in(Role.VIEWER).get("/api/v1/labs").json()
    assert [lab["name"] for lab in labs][:4] == ["F1", "F2", "F2b", "F3"]
    assert len(labs) == 11
    assert labs[0]["parameters"] == {"members": 2, "queues": 4, "messages": 10}


def test_a_lab_is_played_and_cancelled(embedded: Cluster, sign_in: SignIn) -> None:
    client = sign_in(Role.OPERATOR)
    answer = post(client, RUNS, {"parameters": {"queues": 3}})
    assert answer.status_code == 201
    run = answer.json()
    assert (run["lab"], run["state"], run["steps"]) == ("F5", "queued", [])
    assert post(client, RUNS).status_code == 409
    ended = post(client, f"/api/v1/labs/runs/{run['id']}/cancel").json()
    assert ended["state"] == "cancelled"
    listed = client.get("/api/v1/clusters/embedded/labs/runs").json()
    assert [each["id"] for each in listed] == [run["id"]]


def test_steps_and_claims_carry_their_sentence(
    embedded: Cluster, sign_in: SignIn
) -> None:
    client = sign_in(Role.OPERATOR)
    run = post(client, RUNS).json()
    step = {"key": "sent", "params": {"topic": "T", "count": 3}, "at_ms": 5}
    claim = {"key": "F5.idle", "params": {}, "seen": True}
    LabRun.objects.update(steps=[step], claims=[claim], state="done")
    found = client.get(f"/api/v1/labs/runs/{run['id']}").json()
    assert found["steps"] == [{**step, "text": "Messages sent to T: 3."}]
    assert found["claims"][0]["text"].startswith("With more members than queues")


@pytest.mark.parametrize(
    ("role", "request_", "refusal"),
    [
        (Role.VIEWER, (RUNS, {}), (403, "viewer")),
        (Role.OPERATOR, (RUNS.replace("embedded", "x"), {}), (404, "no cluster 'x'")),
        (Role.OPERATOR, (RUNS.replace("F5", "F9"), {}), (404, "unknown lab 'F9'")),
        (
            Role.OPERATOR,
            (RUNS, {"parameters": {"queues": 1}}),
            (422, "allowed 3 to 256"),
        ),
        (Role.OPERATOR, (RUNS, {"linger_s": 99}), (422, "allowed 0 to 30")),
        (Role.OPERATOR, ("/api/v1/labs/runs/9/cancel", {}), (404, "there is no run 9")),
    ],
)
@pytest.mark.usefixtures("embedded")
def test_wrong_requests_are_refused_by_name(
    sign_in: SignIn,
    role: Role,
    request_: tuple[str, dict[str, Any]],
    refusal: tuple[int, str],
) -> None:
    answer = post(sign_in(role), *request_)
    assert answer.status_code == refusal[0]
    assert refusal[1] in answer.json()["detail"]


def test_a_cluster_of_others_is_refused(sign_in: SignIn) -> None:
    Cluster.objects.create(name="production")
    path = RUNS.replace("embedded", "production")
    answer = post(sign_in(Role.OPERATOR), path)
    assert answer.status_code == 422
    assert "embedded cluster only" in answer.json()["detail"]


def test_strangers_get_nothing(client: Client, db: None) -> None:
    assert client.get("/api/v1/labs").status_code == 401
