"""Managed groups, changes and scenarios over REST."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dashboard.models import GroupChange, ManagedGroup, Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import hosted_group, looked_at, now_ms

from .managed import NAME, host

BASE = "/api/v1/clusters/hangzhou"
SWITCH = f"{BASE}/groups/{NAME}/switch"
CIRCLE = "v=1&s=AVG_BY_CIRCLE"


@pytest.fixture
def operator(sign_in: SignIn, write: Write) -> Client:
    write(looked_at(), hosted_group(at=now_ms()))
    return sign_in(Role.OPERATOR)


def send(client: Client, method: str, path: str, **body: Any) -> Any:
    return getattr(client, method)(path, body, content_type="application/json")


def test_a_group_is_hosted_changed_and_removed(operator: Client) -> None:
    body = {"topics": [{"topic": "orders"}], "members": 2, "listener": "work"}
    made = send(operator, "put", f"{BASE}/hosted/billing", **body).json()
    assert (made["members_wanted"], made["revision"]) == (2, 1)
    send(operator, "put", f"{BASE}/hosted/billing", **{**body, "orderly": True})
    (listed,) = operator.get(f"{BASE}/hosted").json()
    assert (listed["orderly"], listed["revision"]) == (True, 2)
    assert operator.delete(f"{BASE}/hosted/billing?reason=over").status_code == 204
    assert ManagedGroup.objects.get().leaving


def test_what_cannot_be_hosted_is_said(operator: Client) -> None:
    body = {"topics": [{"topic": "orders"}], "strategy": "FAIR"}
    answer = send(operator, "put", f"{BASE}/hosted/billing", **body)
    assert answer.status_code == 409
    assert "unknown allocation strategy 'FAIR'" in answer.json()["detail"]
    assert send(operator, "put", f"{BASE}/hosted/b", topics=[]).status_code == 422
    assert operator.delete(f"{BASE}/hosted/none").status_code == 404


def test_a_switch_is_previewed_applied_and_undone(operator: Client) -> None:
    host()
    preview = operator.get(SWITCH, {"query": CIRCLE}).json()
    assert (preview["row"], preview["changed"]) == ("AVG_BY_CIRCLE", 10)
    assert preview["mixed"]["twice_s"] == 1.0
    body = {"query": CIRCLE, "token": preview["token"], "reason": "CHG-1"}
    answer = send(operator, "post", SWITCH, **body)
    assert answer.status_code == 201
    change = answer.json()
    assert change["predicted"] == preview["predicted"]
    path = f"{BASE}/groups/{NAME}/changes/{change['id']}"
    assert operator.get(path).json()["state"] == "running"
    undone = send(operator, "post", f"{path}/undo", reason="worse").json()
    assert undone["undo_of"] == change["id"]
    assert ManagedGroup.objects.get().strategy == "AVG"


def test_refusals_are_answers(operator: Client, sign_in: SignIn) -> None:
    host()
    body = {"query": CIRCLE, "token": "other", "reason": "CHG-1"}
    assert send(operator, "post", SWITCH, **body).status_code == 409
    assert send(sign_in(Role.VIEWER), "post", SWITCH, **body).status_code == 403
    assert operator.get(SWITCH, {"query": "v=1&z=1"}).status_code == 422
    missing = f"{BASE}/groups/{NAME}/changes/99"
    assert operator.get(missing).status_code == 404
    assert send(operator, "post", f"{missing}/undo", reason="x").status_code == 404
    assert not GroupChange.objects.exists()


def test_scenarios_are_kept_listed_and_forgotten(
    operator: Client, sign_in: SignIn
) -> None:
    body = {"group": NAME, "name": "Sale", "query": CIRCLE, "shared": True}
    kept = send(operator, "post", f"{BASE}/scenarios", **body).json()
    viewer = sign_in(Role.VIEWER)
    assert viewer.get(f"{BASE}/scenarios", {"group": NAME}).json() == [kept]
    assert viewer.get(f"{BASE}/scenarios").json() == []
    path = f"{BASE}/scenarios/{kept['id']}"
    assert viewer.delete(path).status_code == 403
    assert operator.delete(path).status_code == 204
    assert operator.delete(path).status_code == 404
    bad = send(operator, "post", f"{BASE}/scenarios", **{**body, "query": "z=1"})
    assert bad.status_code == 409


@pytest.mark.parametrize("path", ["/hosted", "/scenarios", f"/groups/{NAME}/changes/1"])
def test_strangers_are_refused(path: str, hangzhou: object) -> None:
    assert Client().get(BASE + path).status_code == 401
