from __future__ import annotations

import json

import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.utils import translation

from dashboard.frame.errors import failed, not_found
from dashboard.models import Role
from tests.dashboard.conftest import SignIn
from tests.dashboard.overview.test_pages import text_of


def test_an_address_without_a_page(db: None) -> None:
    answer = Client().get("/no/such/page/")
    assert answer.status_code == 404
    assert "There is no page at this address." in text_of(answer)
    assert "Content-Security-Policy" in answer


def test_an_address_without_a_resource_is_told_in_json(db: None) -> None:
    answer = Client().get("/api/v1/no/such/thing")
    assert answer.status_code == 404
    assert answer.json() == {"detail": "no resource at /api/v1/no/such/thing"}


def test_a_role_that_is_too_low_is_told_what_it_needs(sign_in: SignIn) -> None:
    answer = sign_in(Role.VIEWER).get("/account/users/")
    assert answer.status_code == 403
    assert "This needs the role “Admin”, you have “Viewer”." in text_of(answer)


@pytest.fixture
def request_() -> HttpRequest:
    return RequestFactory().get("/")


def test_an_unexpected_error_has_a_page_that_needs_no_database(
    request_: HttpRequest,
) -> None:
    answer = failed(request_)
    assert answer.status_code == 500
    assert "Something broke" in text_of(answer)


def test_an_unexpected_error_is_told_in_the_readers_language(
    request_: HttpRequest,
) -> None:
    with translation.override("zh-hans"):
        assert "出错了" in text_of(failed(request_))


def test_djangos_own_reason_is_not_shown(request_: HttpRequest) -> None:
    answer = not_found(request_, Exception({"tried": ["secret/urls"]}))
    assert "secret" not in answer.content.decode()


def answer_while(
    monkeypatch: pytest.MonkeyPatch, error: Exception, path: str
) -> HttpResponse:
    """Ask for a page while every question to the database ends in an error."""

    def refuse(*_question: object) -> None:
        raise error

    client = Client(raise_request_exception=False)
    client.cookies["rocketscope_session"] = "x" * 32
    with monkeypatch.context() as outage:
        outage.setattr(BaseDatabaseWrapper, "cursor", refuse)
        return client.get(path)  # type: ignore[return-value]


@pytest.mark.parametrize("kind", [OperationalError, InterfaceError])
def test_a_database_that_is_away_is_told_as_such(
    db: None, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    answer = answer_while(monkeypatch, kind("secret address"), "/settings/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "The database does not answer" in text_of(answer)
    assert "secret" not in answer.content.decode()


def test_a_database_that_is_away_is_told_programs_in_json(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = answer_while(monkeypatch, OperationalError(""), "/api/v1/clusters")
    assert answer.status_code == 503
    assert json.loads(answer.content) == {"detail": "The database does not answer."}


def test_an_error_of_our_own_is_not_blamed_on_the_database(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = answer_while(monkeypatch, ProgrammingError("no such column"), "/settings/")
    assert answer.status_code == 500
