"""Every address, asked by somebody whose rights are elsewhere, or for other groups."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dashboard.models import NO_ROLE, Cluster, Role, User
from tests.attacks.routes import (
    PAGES,
    SAMPLES,
    VIEWER,
    Route,
    is_turned_away,
    let_go,
    pages,
    path_of,
    rest,
    rest_role,
)
from tests.attacks.test_privileges import body_of, rows
from tests.dashboard.conftest import SignIn

pytestmark = pytest.mark.usefixtures("nobody_there", "one_of_each")

ELSEWHERE = "elsewhere"
HERE = SAMPLES["cluster"]
# What they show has nothing to do with clusters.
WITHOUT_CLUSTERS = {"timers", "settings"}


def client_of(sign_in: SignIn, *grants: tuple[Role, str, str]) -> Client:
    """Return the browser of a user who has these grants and no role."""
    Cluster.objects.get_or_create(name=ELSEWHERE)
    client = sign_in(Role.VIEWER)
    user = User.objects.get(username=Role.VIEWER.value)
    user.role = NO_ROLE
    user.save(update_fields=["role"])
    for role, cluster, groups in grants:
        user.grants.create(role=role, cluster=cluster, groups=groups)
    return client


def placed(route: Route) -> bool:
    return "cluster" in route.places


def test_an_admin_of_another_cluster_reaches_no_page_of_this_one(
    sign_in: SignIn,
) -> None:
    client = client_of(sign_in, (Role.ADMIN, ELSEWHERE, ""))
    open_to_them = []
    for route in filter(placed, pages()):
        for method in PAGES[route.name]:
            before = rows()
            answer = client.generic(method, path_of(route))
            let_go(answer)
            if answer.status_code not in {403, 404} or rows() != before:
                open_to_them.append((method, route.name, answer.status_code))
    assert open_to_them == []


def test_an_admin_of_another_cluster_reaches_nothing_of_this_one_over_rest(
    sign_in: SignIn,
) -> None:
    client = client_of(sign_in, (Role.ADMIN, ELSEWHERE, ""))
    open_to_them = []
    for method, route in rest():
        if not placed(route):
            continue
        before = rows()
        answer = client.generic(method, route.path(), *body_of(route))
        let_go(answer)
        if answer.status_code not in {403, 404} or rows() != before:
            open_to_them.append((method, route.name, answer.status_code))
    assert open_to_them == []


def test_an_admin_of_another_cluster_reads_nothing_of_this_one_anywhere(
    sign_in: SignIn,
) -> None:
    client = client_of(sign_in, (Role.ADMIN, ELSEWHERE, ""))
    told = []
    for route in pages():
        if placed(route) or "GET" not in PAGES[route.name]:
            continue
        answer = client.get(path_of(route))
        if not answer.streaming and HERE in answer.content.decode():
            told.append(route.name)
        let_go(answer)
    for method, route in rest():
        if placed(route) or method != "GET" or route.name == "/openapi.json":
            continue
        answer = client.get(route.path(), {"q": "order"})
        if not answer.streaming and HERE in answer.content.decode():
            told.append(route.name)
        let_go(answer)
    assert told == []


def test_an_operator_of_other_groups_changes_nothing(sign_in: SignIn) -> None:
    client = client_of(sign_in, (Role.OPERATOR, HERE, "payments-*"))
    changed = []
    for route in pages():
        for method, role in PAGES[route.name].items():
            if role == VIEWER or method == "GET":
                continue
            before = rows()
            answer = client.generic(method, path_of(route))
            let_go(answer)
            if rows() != before or not is_turned_away(answer):
                changed.append((method, route.name, answer.status_code))
    for method, route in rest():
        if method == "GET" or rest_role(method, route) == VIEWER:
            continue
        before = rows()
        answer = client.generic(method, route.path(), *body_of(route))
        let_go(answer)
        if rows() != before or answer.status_code not in {403, 404, 409, 422}:
            changed.append((method, route.name, answer.status_code))
    assert [each for each in changed if each[1] not in OWN] == []


# A user's own things, which need no right on a cluster.
OWN: Any = {"save_view", "rename_view", "delete_view", "preferences", "language"}


def test_an_operator_of_a_group_reaches_its_pages(sign_in: SignIn) -> None:
    client = client_of(sign_in, (Role.OPERATOR, HERE, f"{SAMPLES['group'][:5]}*"))
    refused = []
    for route in pages():
        if not {"cluster", "group"} <= set(route.places):
            continue
        for method in PAGES[route.name]:
            answer = client.generic(method, path_of(route))
            let_go(answer)
            if answer.status_code == 403:
                refused.append((method, route.name))
    assert refused == []
