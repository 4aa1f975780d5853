"""The sign-in page with a directory, which is replaced; `attacks/test_directory.py`
asks a real one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from dashboard.accounts import directory as directory_module
from dashboard.accounts.directory import DirectoryAwayError, identify
from dashboard.accounts.outside import Directory, GroupRight, Person
from dashboard.accounts.throttle import LIMIT
from dashboard.models import AuditEntry, Role, User

HERE = Directory(
    ("ldaps://ldap.example.com",), "Example directory", "ou=people", "ou=groups"
)
OURS = {"username": "root", "password": "correct horse battery"}
THEIRS = {"username": "olga", "password": "hers"}
Asked = list[tuple[str, str]]


@pytest.fixture
def asked(db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """Answer for olga; return what was asked."""
    cache.clear()
    settings.ROCKETSCOPE_LDAP = HERE
    settings.ROCKETSCOPE_SIGN_IN_GROUPS = (GroupRight("staff", "viewer"),)
    questions: Asked = []

    def answer(of: Directory, name: str, password: str) -> Person | None:
        questions.append((name, password))
        if (name, password) != ("olga", "hers"):
            return None
        return Person(of.issuer, "id-1", "olga", frozenset({"staff"}))

    monkeypatch.setattr(directory_module, "identify", answer)
    yield questions
    cache.clear()


def test_the_page_says_whose_passwords_count(asked: Asked, settings: Any) -> None:
    page = Client().get("/sign-in/").content.decode()
    assert (
        "You can sign in with your user name and password of Example directory." in page
    )
    assert "sign_in_link" in page
    settings.ROCKETSCOPE_SIGN_IN_PASSWORDS = False
    page = Client().get("/sign-in/").content.decode()
    assert 'type="password"' in page
    assert "sign_in_link" not in page


def test_somebody_of_the_directory_gets_in(asked: Asked) -> None:
    answer = Client().post("/sign-in/", {**THEIRS, "next": "/timers/"})
    assert (answer.status_code, answer["Location"]) == (302, "/timers/")
    assert User.objects.get().role == Role.VIEWER
    entry = AuditEntry.objects.get(action="sign_in")
    assert entry.details == {"issuer": "ldap:///ou=people"}


def test_a_password_of_ours_is_not_told_to_the_directory(asked: Asked) -> None:
    User.objects.create_user(**OURS, role=Role.ADMIN)
    assert Client().post("/sign-in/", OURS).status_code == 302
    assert asked == []


def test_switched_off_passwords_of_ours_do_not_count(
    asked: Asked, settings: Any
) -> None:
    settings.ROCKETSCOPE_SIGN_IN_PASSWORDS = False
    User.objects.create_user(**OURS, role=Role.ADMIN)
    assert Client().post("/sign-in/", OURS).status_code == 200
    assert Client().post("/sign-in/", THEIRS).status_code == 302


def test_wrong_passwords_are_counted_while_the_directory_is_away(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise DirectoryAwayError("SERVER_DOWN Can't contact LDAP server")

    monkeypatch.setattr(directory_module, "identify", away)
    User.objects.create_user(**OURS, role=Role.ADMIN)
    for _ in range(LIMIT):
        answer = Client().post("/sign-in/", {**OURS, "password": "guess"})
        assert "Example directory does not answer" in answer.content.decode()
    answer = Client().post("/sign-in/", OURS)
    assert f"{LIMIT} wrong passwords" in answer.content.decode()


def test_a_second_factor_is_asked_of_nobody_of_the_directory(
    asked: Asked, settings: Any
) -> None:
    settings.ROCKETSCOPE_SIGN_IN_SECOND_FACTOR = "required"
    client = Client()
    assert client.post("/sign-in/", THEIRS)["Location"] == "/"
    assert client.get("/account/").status_code == 200


@pytest.mark.parametrize(
    ("name", "password"),
    [("olga", ""), ("", "x"), (" ", "x"), ("olga", "\0"), ("\0", "x")],
)
def test_what_would_bind_without_a_name_or_password_is_not_asked(
    name: str, password: str
) -> None:
    assert identify(HERE, name, password) is None
