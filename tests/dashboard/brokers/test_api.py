"""Saying over REST that a missing broker is gone for good."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dashboard.models import AuditEntry, Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.missing import overview_missing

BASE = "/api/v1/clusters/hangzhou/brokers"
MISSING = f"{BASE}/hz2@broker-c/gone"


@pytest.fixture
def operator(sign_in: SignIn, write: Write) -> Client:
    write(overview_missing())
    return sign_in(Role.OPERATOR)


def post(client: Client, path: str, **body: Any) -> Any:
    return client.post(path, body, content_type="application/json")


def test_the_word_is_taken_and_given_back(operator: Client) -> None:
    answer = post(operator, MISSING, reason="scrapped")
    assert answer.status_code == 200
    told = answer.json()
    assert isinstance(told.pop("at"), int)
    assert told == {"broker": "hz2@broker-c", "by": "operator", "reason": "scrapped"}
    assert AuditEntry.objects.get().action == "broker.gone"


@pytest.mark.parametrize(
    ("path", "body", "status", "detail"),
    [
        (f"{BASE}/hz2@broker-b/gone", {"reason": "x"}, 409, "it is not gone"),
        (f"{BASE}/nobody/gone", {"reason": "x"}, 404, "no broker “nobody”"),
        (MISSING, {"reason": " "}, 409, "A reason is needed"),
        (
            "/api/v1/clusters/x/brokers/b/gone",
            {"reason": "x"},
            404,
            "no cluster 'x' is configured",
        ),
    ],
)
def test_what_cannot_be_taken_is_said(
    operator: Client, path: str, body: dict[str, str], status: int, detail: str
) -> None:
    answer = post(operator, path, **body)
    assert answer.status_code == status
    assert detail in answer.json()["detail"]


def test_a_reason_is_part_of_the_request(operator: Client) -> None:
    assert post(operator, MISSING).status_code == 422
    assert post(operator, MISSING, reason="x" * 1001).status_code == 422


def test_viewers_and_strangers_are_refused(operator: Client, sign_in: SignIn) -> None:
    assert post(sign_in(Role.VIEWER), MISSING, reason="x").status_code == 403
    assert post(Client(), MISSING, reason="x").status_code == 401


def test_a_cache_that_is_away_is_told(operator: Client, settings: Any) -> None:
    settings.ROCKETSCOPE_REDIS_URL = ""
    assert post(operator, MISSING, reason="x").status_code == 503
