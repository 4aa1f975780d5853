"""Every address, asked by somebody whose rights are elsewhere, or for other groups."""

from __future__ import annotations

import pytest
from django.test import Client

from dashboard.models import NO_ROLE, Cluster, Role, User
from tests.attacks.routes import (
    ADMIN,
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
# They have doors of their own, tested in `test_machines`.
FOR_SCRAPERS = {"metrics", "group_metrics", "queue_metrics"}
# A session's own things, which need no right on a cluster.
OWN = {
    *("sign_in", "sign_in_code", "sign_in_link", "sign_out"),
    *("preferences", "language"),
    *("save_view", "rename_view", "delete_view"),
}
# Open to operators of anything: the form refuses what they may not operate.
NAMED_IN_FORMS = {
    *("group_hosted_add", "start_lab", "start_report", "warm_reports"),
    *("alert_rule_new", "alert_silence_new"),
}


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
        if route.name in FOR_SCRAPERS:
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


def test_an_operator_of_other_groups_changes_nothing_on_pages(sign_in: SignIn) -> None:
    client = client_of(sign_in, (Role.OPERATOR, HERE, "payments-*"))
    changed = []
    for route in pages():
        if route.name in OWN:
            continue
        for method, role in PAGES[route.name].items():
            if role == VIEWER or method == "GET":
                continue
            before = rows()
            answer = client.post(path_of(route), SAMPLES)
            let_go(answer)
            refused = is_turned_away(answer) or route.name in NAMED_IN_FORMS
            if rows() != before or not refused:
                changed.append((method, route.name, answer.status_code))
    assert changed == []


def test_an_operator_of_other_groups_changes_nothing_over_rest(
    sign_in: SignIn,
) -> None:
    client = client_of(sign_in, (Role.OPERATOR, HERE, "payments-*"))
    changed = []
    for method, route in rest():
        if method == "GET" or rest_role(method, route) == VIEWER:
            continue
        before = rows()
        answer = client.generic(method, route.path(), *body_of(route))
        let_go(answer)
        if rows() != before or answer.status_code not in {403, 404, 409, 422}:
            changed.append((method, route.name, answer.status_code))
    assert changed == []


def test_an_operator_of_a_group_reaches_its_pages(sign_in: SignIn) -> None:
    client = client_of(sign_in, (Role.OPERATOR, HERE, f"{SAMPLES['group'][:5]}*"))
    refused = []
    for route in pages():
        if not {"cluster", "group"} <= set(route.places):
            continue
        for method, role in PAGES[route.name].items():
            answer = client.generic(method, path_of(route))
            let_go(answer)
            if answer.status_code == 403 and role != ADMIN:
                refused.append((method, route.name))
    assert refused == []
