"""What each role may ask for: every address, asked by everybody."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.test import Client

from dashboard.accounts.sessions import SessionStore
from dashboard.models import Role, SavedScenario, User
from tests.attacks.routes import (
    ADMIN,
    ANYONE,
    PAGES,
    REST,
    WHO,
    Route,
    is_turned_away,
    let_go,
    pages,
    path_of,
    rest,
    rest_role,
    sample_body,
)
from tests.dashboard.conftest import SignIn

METHODS = ("GET", "POST", "DELETE")
NOT_FOR_YOU = {401, 403}


pytestmark = pytest.mark.usefixtures("nobody_there", "one_of_each")


def client_of(who: str, sign_in: SignIn, **options: Any) -> Client:
    if who == "stranger":
        return Client(**options)
    client = Client(**options)
    client.cookies = sign_in(Role(who)).cookies
    return client


def client_still_of(who: str, sign_in: SignIn, client: Client) -> Client:
    """Return the same browser, unless what it asked for has ended its session.

    To sign in anew for each request takes as long as the requests.
    """
    cookie = client.cookies.get(settings.SESSION_COOKIE_NAME)
    if who == "stranger" or (cookie and SessionStore().exists(cookie.value)):
        return client
    return client_of(who, sign_in)


def may(who: str, role: str) -> bool:
    return role == ANYONE or WHO.index(who) >= WHO.index(role)


def test_every_page_has_a_declared_role_and_no_role_is_left_over() -> None:
    assert {route.name for route in pages()} == set(PAGES)


def test_every_write_of_the_api_has_a_declared_role_and_none_is_left_over() -> None:
    found = {(method, route.name) for method, route in rest()}
    assert {key for key in found if key[0] != "GET"} <= set(REST)
    assert set(REST) - found == {("GET", "/openapi.json")}


@pytest.mark.parametrize("who", WHO)
def test_a_page_answers_those_it_is_for(sign_in: SignIn, who: str) -> None:
    wrong = []
    client = client_of(who, sign_in)
    for route in pages():
        for method in METHODS:
            client = client_still_of(who, sign_in, client)
            answer = client.generic(method, path_of(route))
            let_go(answer)
            role = PAGES[route.name].get(method)
            if role is None:
                # A method that a page lacks is refused before or after the person.
                right = answer.status_code == 405 or is_turned_away(answer)
            else:
                right = is_turned_away(answer) is not may(who, role)
            if not right or answer.status_code == 500:
                wrong.append((method, route.name, answer.status_code))
    assert wrong == []


@pytest.mark.parametrize("who", WHO)
def test_the_api_answers_those_it_is_for(sign_in: SignIn, who: str) -> None:
    wrong = []
    client = client_of(who, sign_in)
    for method, route in rest():
        client = client_still_of(who, sign_in, client)
        # A scenario is its owner's: what is asked for here is the role alone.
        if user := User.objects.filter(role=who).first():
            SavedScenario.objects.update(owner=user)
        before = rows()
        answer = client.generic(method, route.path(), *body_of(route))
        let_go(answer)
        role = rest_role(method, route)
        if may(who, role):
            right = answer.status_code not in NOT_FOR_YOU
        elif who == "stranger":
            right = answer.status_code == 401
        else:
            right = answer.status_code == 403 and rows() == before
        if not right:
            wrong.append((method, route.name, answer.status_code))
    assert wrong == []


def body_of(route: Route) -> tuple[Any, ...]:
    body = sample_body(route)
    return () if body is None else (orjson.dumps(body), "application/json")


def rows() -> dict[str, list[Any]]:
    """Return every row of every table, but for when sessions were last used.

    It is asked for around each request, hence without the models, which take more time
    than the requests do.
    """
    quote = connection.ops.quote_name
    found = {}
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            if model.__name__ != "Session":
                of: Any = model._meta
                table, key = quote(of.db_table), quote(of.pk.column)
                cursor.execute(f"select * from {table} order by {key}")
                found[of.db_table] = cursor.fetchall()
    return found


def test_reading_changes_nothing(sign_in: SignIn) -> None:
    client = sign_in(Role(ADMIN))
    changed = []
    reads = [route for route in pages() if "GET" in PAGES[route.name]]
    reads += [route for method, route in rest() if method == "GET"]
    for route in reads:
        path = path_of(route)
        before = rows()
        let_go(client.get(path))
        if rows() != before:
            changed.append(route.name)
    assert changed == []


def test_every_write_of_a_page_needs_a_token(sign_in: SignIn) -> None:
    client = client_of(ADMIN, sign_in, enforce_csrf_checks=True)
    unasked = [
        (route.name, method)
        for route in pages()
        for method in METHODS[1:]
        if client.generic(method, path_of(route)).status_code != 403
    ]
    assert unasked == []


def test_every_write_of_the_api_needs_a_token(sign_in: SignIn) -> None:
    client = client_of(ADMIN, sign_in, enforce_csrf_checks=True)
    unasked = []
    for method, route in rest():
        if method == "GET":
            continue
        answer = client.generic(method, route.path(), *body_of(route))
        let_go(answer)
        if answer.status_code != 403:
            unasked.append((method, route.name, answer.status_code))
    assert unasked == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://testserver:8443"},
        {"X-CSRFToken": "y" * 32},
    ],
)
def test_a_token_does_not_help_another_site(
    sign_in: SignIn, headers: dict[str, str]
) -> None:
    client = client_of(ADMIN, sign_in, enforce_csrf_checks=True)
    client.cookies["rocketscope_csrf"] = "x" * 32
    own = {"X-CSRFToken": "x" * 32}
    assert client.post("/preferences/", headers=own).status_code == 302
    assert client.post("/preferences/", headers={**own, **headers}).status_code == 403
