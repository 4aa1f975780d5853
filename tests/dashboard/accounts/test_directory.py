"""The sign-in page with a directory, which is replaced; `attacks/test_directory.py`
asks a real one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pyotp
import pytest
from django.core import signing
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from dashboard.accounts import directory as directory_module
from dashboard.accounts.directory import DirectoryAwayError, identify
from dashboard.accounts.outside import Directory, GroupRight, Person
from dashboard.accounts.second_factor import set_up
from dashboard.accounts.throttle import LIMIT
from dashboard.models import AuditEntry, Identity, Role, SecondFactor, User

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


FACTOR = "/account/second-factor/"


def offered(client: Client) -> str:
    """Return the field that brings back the secret that the page offers."""
    page = client.get(FACTOR).content.decode()
    return re.search(r'name="secret" value="([^"]+)"', page)[1]  # type: ignore[index]


def code_of(client: Client, kept: str) -> dict[str, str]:
    secret = signing.loads(kept, salt="rocketscope.second-factor")[1]
    return {"secret": kept, "code": pyotp.TOTP(secret).now()}


@pytest.fixture
def required(asked: Asked, settings: Any) -> None:
    settings.ROCKETSCOPE_SIGN_IN_SECOND_FACTOR = "required"


@pytest.mark.usefixtures("required")
def test_somebody_of_the_directory_has_to_set_up_a_second_factor(asked: Asked) -> None:
    client = Client()
    assert client.post("/sign-in/", THEIRS)["Location"] == "/"
    assert client.get("/account/").status_code == 302
    assert client.get("/api/v1/clusters").status_code == 401
    given = code_of(client, offered(client))
    refused = client.post(FACTOR, {**given, "password": "guess"})
    assert "The password is wrong." in refused.content.decode()
    assert not SecondFactor.objects.exists()
    done = client.post(FACTOR, {**given, "password": "hers"})
    assert "recovery-codes" in done.content.decode()
    assert client.get("/account/").status_code == 200
    assert FACTOR in client.get("/account/").content.decode()


@pytest.mark.usefixtures("required")
def test_somebody_of_the_directory_is_asked_for_a_code(asked: Asked) -> None:
    Client().post("/sign-in/", THEIRS)
    codes = set_up_of("olga")
    client = Client()
    answer = client.post("/sign-in/", {**THEIRS, "next": "/timers/"})
    assert answer["Location"] == "/sign-in/code/"
    assert "rocketscope_session" not in client.cookies
    assert client.get("/account/").status_code == 302
    answer = client.post("/sign-in/code/", {"code": codes[0]})
    assert answer["Location"] == "/timers/"
    entry = AuditEntry.objects.filter(action="sign_in").latest("pk")
    expected = {"issuer": "ldap:///ou=people", "second_factor": "code"}
    assert entry.details == expected
    # Whoever sits down at an open session needs the password of the directory, too.
    gone = {"code": codes[1], "do": "remove"}
    client.post(FACTOR, {**gone, "password": "guess"})
    assert SecondFactor.objects.exists()
    client.post(FACTOR, {**gone, "password": "hers"})
    assert not SecondFactor.objects.exists()


def set_up_of(name: str) -> list[str]:
    secret = pyotp.random_base32()
    user = User.objects.get(username=name)
    code = pyotp.TOTP(secret).now()
    return set_up(user, secret, code, now=timezone.now())


@pytest.mark.usefixtures("required")
def test_the_directory_is_asked_by_the_name_that_was_typed(asked: Asked) -> None:
    User.objects.create_user("olga", password="another", role=Role.VIEWER)
    client = Client()
    client.post("/sign-in/", THEIRS)
    assert User.objects.filter(username="olga-2").exists()
    given = code_of(client, offered(client))
    client.post(FACTOR, {**given, "password": "hers"})
    assert SecondFactor.objects.get().user.username == "olga-2"
    assert asked[-1] == ("olga", "hers")


@pytest.mark.usefixtures("required")
def test_the_password_of_another_entry_is_not_theirs(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client()
    client.post("/sign-in/", THEIRS)
    given = code_of(client, offered(client))
    other = Person(HERE.issuer, "id-2", "olga", frozenset({"staff"}))
    monkeypatch.setattr(directory_module, "identify", lambda *_: other)
    answer = client.post(FACTOR, {**given, "password": "hers"})
    assert "The password is wrong." in answer.content.decode()
    assert not SecondFactor.objects.exists()


@pytest.mark.usefixtures("required")
def test_a_directory_that_is_away_proves_nothing(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client()
    client.post("/sign-in/", THEIRS)
    given = code_of(client, offered(client))

    def away(*_: object) -> None:
        raise DirectoryAwayError("SERVER_DOWN Can't contact LDAP server")

    monkeypatch.setattr(directory_module, "identify", away)
    answer = client.post(FACTOR, {**given, "password": "hers"})
    assert "Example directory does not answer" in answer.content.decode()
    assert not SecondFactor.objects.exists()


@pytest.mark.usefixtures("required")
def test_a_provider_and_a_proxy_ask_for_their_own(asked: Asked) -> None:
    client = Client()
    client.post("/sign-in/", THEIRS)
    Identity.objects.update(issuer="https://login.example.com")
    assert client.get("/account/").status_code == 200


def test_a_second_factor_that_is_off_is_asked_of_nobody(
    asked: Asked, settings: Any
) -> None:
    Client().post("/sign-in/", THEIRS)
    set_up_of("olga")
    settings.ROCKETSCOPE_SIGN_IN_SECOND_FACTOR = "off"
    assert Client().post("/sign-in/", THEIRS)["Location"] == "/"


@pytest.mark.parametrize(
    ("name", "password"),
    [("olga", ""), ("", "x"), (" ", "x"), ("olga", "\0"), ("\0", "x")],
)
def test_what_would_bind_without_a_name_or_password_is_not_asked(
    name: str, password: str
) -> None:
    assert identify(HERE, name, password) is None
