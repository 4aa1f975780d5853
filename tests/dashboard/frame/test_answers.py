"""Every refusal below /api/ is a document with a `detail`, and names the version."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from dashboard.models import Role
from tests.dashboard.conftest import SignIn


def test_every_answer_names_the_version(sign_in: SignIn, hangzhou: object) -> None:
    viewer = sign_in(Role.VIEWER)
    for path in ("clusters", "nowhere", "timers/runs?limit=0", "openapi.json"):
        answer = viewer.get(f"/api/v1/{path}")
        assert answer["X-RocketScope-Version"] == settings.VERSION
    assert "X-RocketScope-Version" not in viewer.get("/settings/")


def test_a_method_that_is_not_taken_is_told_in_json(
    sign_in: SignIn, hangzhou: object
) -> None:
    answer = sign_in(Role.ADMIN).delete("/api/v1/clusters")
    assert answer.status_code == 405
    assert answer["Allow"] == "GET, POST"
    assert answer.json() == {"detail": "/api/v1/clusters takes GET, POST, not DELETE"}


def test_an_error_of_our_own_is_told_in_json(
    sign_in: SignIn, hangzhou: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: Any) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("dashboard.teams.api.teams_seen", fail)
    viewer = sign_in(Role.VIEWER)
    viewer.raise_request_exception = False
    answer = viewer.get("/api/v1/teams")
    assert answer.status_code == 500
    assert answer["Content-Type"] == "application/json"
    assert answer.json()["detail"].startswith("RocketScope failed at /api/v1/teams")
    assert "secret" not in answer.content.decode()


@pytest.mark.parametrize("given", ["9999", "x" * 500])
def test_a_value_that_does_not_fit_is_repeated_beside_the_limit(
    sign_in: SignIn, hangzhou: object, given: str
) -> None:
    answer = sign_in(Role.VIEWER).get(f"/api/v1/timers/runs?limit={given}")
    assert answer.status_code == 422
    told = answer.json()
    shown = given if len(given) <= 80 else "x" * 80 + "…"
    assert told["errors"][0]["value"] == shown
    assert told["detail"].endswith(f", not {shown!r}")


def test_bodies_and_secrets_are_not_repeated(sign_in: SignIn, hangzhou: object) -> None:
    admin = sign_in(Role.ADMIN)
    told: Any = admin.post("/api/v1/teams", {"note": "x"}, "application/json").json()
    (missing,) = told["errors"]
    assert missing["loc"][-1] == "name"
    assert "value" not in missing


def test_a_stranger_is_told_in_json(db: None) -> None:
    assert "detail" in Client().get("/api/v1/teams").json()
