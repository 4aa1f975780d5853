"""Configuration over REST."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dashboard.models import Role
from tests.dashboard.conftest import SignIn

from .conftest import East

BASE = "/api/v1/clusters/east/configuration"


@pytest.fixture
def operator(sign_in: SignIn, east: East) -> Client:
    return sign_in(Role.OPERATOR)


def post(client: Client, address: str, **body: Any) -> Any:
    return client.post(address, body, content_type="application/json")


def test_a_program_previews_applies_reads_and_undoes(operator: Client) -> None:
    wish = {"kind": "topic", "name": "rest", "action": "create"}
    wish["changes"] = {"readQueueNums": "2", "writeQueueNums": "2"}  # type: ignore[assignment]
    preview = post(operator, f"{BASE}/preview", **wish).json()
    assert [step["place"] for step in preview["steps"]] == ["broker-a", "broker-b"]
    assert preview["mqadmin"][0].startswith("mqadmin updateTopic")
    answer = post(operator, BASE, **wish, token=preview["token"], reason="CHG-7")
    assert answer.status_code == 201
    assert answer.json()["state"] == "done"
    read = operator.get(f"{BASE}?kind=topic&name=rest").json()
    assert read["standings"][0]["values"]["readQueueNums"] == "2"
    assert read["drift"] == []

    wish = {"kind": "topic", "name": "rest", "changes": {"perm": "4"}}  # type: ignore[dict-item]
    token = post(operator, f"{BASE}/preview", **wish).json()["token"]
    made = post(operator, BASE, **wish, token=token, reason="CHG-8").json()
    assert operator.get(f"{BASE}/changes/{made['id']}").json() == made
    assert made["can_undo"]
    undo = {"kind": "topic", "name": "rest", "undo": made["id"]}
    preview = post(operator, f"{BASE}/preview", **undo).json()
    assert {step["after"]["perm"] for step in preview["steps"]} == {"6"}


def test_refusals_have_a_status_and_a_code(operator: Client) -> None:
    wish = {"kind": "topic", "name": "absent", "action": "delete"}
    assert post(operator, f"{BASE}/preview", **wish).status_code == 404
    wish = {"kind": "topic", "name": "there", "action": "create"}
    wish["changes"] = {"perm": "6"}  # type: ignore[assignment]
    token = post(operator, f"{BASE}/preview", **wish).json()["token"]
    answer = post(operator, BASE, **wish, token="old", reason="x")
    assert (answer.status_code, answer.json()["code"]) == (409, "stale")
    assert post(operator, BASE, **wish, token=token, reason="x").status_code == 201
    gone = {"kind": "topic", "name": "there", "action": "delete"}
    preview = post(operator, f"{BASE}/preview", **gone).json()
    assert preview["confirm"] == "there"
    answer = post(operator, BASE, **gone, token=preview["token"], reason="x")
    assert (answer.status_code, answer.json()["code"]) == (409, "confirm")


def test_users_are_shown_to_admins_only(operator: Client, sign_in: SignIn) -> None:
    address = f"{BASE}?kind=user&name=orders"
    assert operator.get(address).status_code == 403
    read = sign_in(Role.ADMIN).get(address).json()
    assert "not supported" in read["standings"][0]["problem"]
