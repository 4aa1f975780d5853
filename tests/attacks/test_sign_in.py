"""Guessing passwords, exhausting memory by asking, and stealing sign-in links."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from dashboard.accounts import hashing
from dashboard.accounts.hashing import (
    AT_ONCE,
    MOST_WAITING,
    BoundedArgon2PasswordHasher,
    TooManyAtOnceError,
)
from dashboard.accounts.links import make_sign_in_token
from dashboard.accounts.log import WithoutTokens
from dashboard.accounts.throttle import LIMIT
from dashboard.models import Role, SignInLink, User
from tests.support.waiting import wait_until

PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def admin(db: None) -> Iterator[User]:
    cache.clear()
    yield User.objects.create_user("admin", password=PASSWORD, role=Role.ADMIN)
    cache.clear()


def guess(name: str, password: str = "wrong") -> bytes:
    fields = {"username": name, "password": password}
    return Client().post("/sign-in/", fields).content


@pytest.mark.parametrize(
    "name",
    ["admin ", " admin", "\tadmin", "ａｄｍｉｎ", "ad\u200dmin".replace("\u200d", "")],
    ids=["space after", "space before", "tab", "full width", "plain"],
)
def test_a_padded_name_is_counted_as_the_name(name: str) -> None:
    for _ in range(LIMIT):
        guess(name)
    assert f"{LIMIT} wrong passwords".encode() in guess("admin", PASSWORD)


def test_many_at_once_take_a_bounded_amount_of_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inside, most, go_on = 0, 0, threading.Event()
    lock = threading.Lock()

    def slow(_self: object, _password: str, _salt: str) -> str:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        go_on.wait(60)
        with lock:
            inside -= 1
        return "argon2$x"

    monkeypatch.setattr(hashing.Argon2PasswordHasher, "encode", slow)
    refused: list[Exception] = []

    def ask() -> None:
        try:
            BoundedArgon2PasswordHasher().encode("x", "salt")
        except TooManyAtOnceError as error:
            refused.append(error)

    askers = [threading.Thread(target=ask) for _ in range(60)]
    for asker in askers:
        asker.start()
    try:
        wait_until(lambda: len(refused) == 60 - AT_ONCE - MOST_WAITING)
    finally:
        go_on.set()
        for asker in askers:
            asker.join()
    assert most == AT_ONCE


def test_names_cannot_be_told_apart_by_what_an_attempt_costs(
    monkeypatch: pytest.MonkeyPatch, admin: User
) -> None:
    User.objects.create_user("gone", password=PASSWORD, is_active=False)
    User.objects.create_user("link-only")
    hashed: list[str] = []
    encode = hashing.Argon2PasswordHasher.encode
    verify = hashing.Argon2PasswordHasher.verify

    def counted_encode(*given: object) -> str:
        hashed.append("encode")
        return encode(*given)  # type: ignore[arg-type]

    def counted_verify(*given: object) -> bool:
        hashed.append("verify")
        return verify(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(hashing.Argon2PasswordHasher, "encode", counted_encode)
    monkeypatch.setattr(hashing.Argon2PasswordHasher, "verify", counted_verify)
    answers = {}
    for name in ("admin", "nobody", "gone", "link-only"):
        hashed.clear()
        said = guess(name).decode().replace(name, "")
        said = re.sub(r'(data-now|"csrfmiddlewaretoken" value)="\w+"', "", said)
        answers[name] = len(hashed), said
    assert len(set(answers.values())) == 1
    assert answers["admin"][0] == 1


def test_who_comes_beyond_the_bound_is_told_when_to_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = threading.BoundedSemaphore(1)
    full.acquire()
    monkeypatch.setattr(BoundedArgon2PasswordHasher, "_waiting", full)
    answer = Client().post("/sign-in/", {"username": "admin", "password": PASSWORD})
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert b"Try again in a few seconds" in answer.content


@pytest.fixture
def link(admin: User) -> str:
    return f"/sign-in/{make_sign_in_token(admin, timezone.now())}/"


@pytest.mark.parametrize("method", ["get", "head"])
def test_a_scanner_that_opens_a_link_spends_nothing(link: str, method: str) -> None:
    assert getattr(Client(), method)(link).status_code == 200
    assert SignInLink.objects.get().used_at is None
    assert Client().post(link).status_code == 302


def test_a_link_cannot_be_used_from_another_site(link: str) -> None:
    assert Client(enforce_csrf_checks=True).post(link).status_code == 403
    assert SignInLink.objects.get().used_at is None


def test_a_replayed_link_lets_nobody_in(link: str) -> None:
    assert Client().post(link).status_code == 302
    for method in ("get", "post"):
        assert getattr(Client(), method)(link).status_code == 403


def test_a_link_for_one_is_no_link_for_another(link: str) -> None:
    other = User.objects.create_user("vera", role=Role.VIEWER)
    token = make_sign_in_token(other, timezone.now())
    forged = token.split(":")[0] + ":" + link.strip("/").split(":", 1)[1]
    assert Client().post(f"/sign-in/{forged}/").status_code == 403


def test_no_log_line_has_an_unspent_link(
    link: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.handler.addFilter(WithoutTokens())
    with caplog.at_level(logging.DEBUG):
        Client().put(link)
        Client(enforce_csrf_checks=True).post(link)
    said = [record.getMessage() for record in caplog.records]
    assert any("/sign-in/…" in line for line in said)
    assert not any(link in line for line in said)
