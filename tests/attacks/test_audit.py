"""The audit trail: who reads it, and what a stranger can write into it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.test import Client

from dashboard.accounts import attempts
from dashboard.models import AuditEntry, Role, User
from tests.dashboard.conftest import SignIn

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def vera(db: None) -> Iterator[User]:
    cache.clear()
    yield User.objects.create_user("vera", password=PASSWORD, role=Role.VIEWER)
    cache.clear()


def attempt(name: str, password: str = "hush-hush", address: str = "10.0.0.1") -> None:
    fields = {"username": name, "password": password}
    Client(REMOTE_ADDR=address).post("/sign-in/", fields)


def test_a_stranger_cannot_fill_the_trail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "MOST_ENTRIES", 3)
    for number in range(6):
        attempt(f"name-{number}", address=f"10.0.0.{number}")
        Client(REMOTE_ADDR=f"10.0.1.{number}").get(f"/sign-in/{number}/")
    assert AuditEntry.objects.count() == 2 * (3 + 1)
    assert sum(AuditEntry.objects.values_list("times", flat=True)) == 12


def test_no_password_is_in_the_trail() -> None:
    attempt("vera")
    attempt("vera", PASSWORD)
    kept = str(list(AuditEntry.objects.values()))
    assert "hush-hush" not in kept
    assert PASSWORD not in kept


def test_a_stranger_cannot_pass_for_somebody_else_in_the_trail() -> None:
    attempt("rocketscope")
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.actor_name, entry.target) == (None, "", "rocketscope")


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
@pytest.mark.parametrize("path", ["", "audit.csv", "audit.jsonl", "?q=10.0.0.1"])
def test_addresses_are_for_admins(sign_in: SignIn, role: Role, path: str) -> None:
    attempt("vera")
    answer = sign_in(role).get(f"/audit/{path}")
    assert answer.status_code == 403
    assert b"10.0.0.1" not in answer.content
