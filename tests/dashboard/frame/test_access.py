"""Every page: works for those who may see it, and is closed to everybody else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from dashboard.models import Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview, waiting_for_locks

GROUP = "/clusters/hangzhou/groups/order-settlement/"
FORMS = [
    "/clusters/hangzhou/new/topic/",
    "/clusters/hangzhou/topics/orders/change/",
    "/clusters/hangzhou/topics/orders/delete/",
    "/clusters/hangzhou/new/group/",
    f"{GROUP}settings/",
    f"{GROUP}delete/",
    "/clusters/hangzhou/brokers/broker-a/settings/",
    "/clusters/hangzhou/brokers/broker-a/writing/",
]
ACCESS = "/clusters/hangzhou/access/"
PAGES = [
    "/clusters/",
    "/clusters/hangzhou/",
    "/clusters/hangzhou/groups/",
    "/clusters/hangzhou/topics/",
    "/clusters/hangzhou/topics/orders/",
    "/clusters/hangzhou/topics/orders/traffic/",
    "/clusters/hangzhou/brokers/",
    "/clusters/hangzhou/brokers/hz1@broker-a/",
    "/clusters/hangzhou/clients/",
    GROUP,
    f"{GROUP}members/",
    f"{GROUP}whatif/",
    f"{GROUP}switch/",
    f"{GROUP}changes/",
    f"{GROUP}offsets/",
    f"{GROUP}dead-letters/",
    f"{GROUP}retries/",
    "/clusters/hangzhou/alerts/",
    "/clusters/hangzhou/alerts/history/",
    "/clusters/hangzhou/alerts/silences/",
    "/clusters/hangzhou/alerts/trial/",
    "/clusters/hangzhou/whatif/",
    "/clusters/hangzhou/hosted/",
    *FORMS,
    "/clusters/hangzhou/messages/",
    "/search/",
    "/views/",
    "/teams/",
    "/clusters/hangzhou/messages/tail/",
    "/settings/",
    "/account/",
    "/account/sessions/",
    "/account/tokens/",
    "/account/second-factor/",
]
ADMIN_PAGES = [
    "/account/users/",
    "/audit/",
    ACCESS,
    f"{ACCESS}new/",
    f"{ACCESS}user/",
    f"{ACCESS}user/delete/",
    f"{ACCESS}rules/",
    "/teams/new/",
    "/alerts/channels/",
    "/alerts/channels/new/",
    "/attach/",
    "/clusters/hangzhou/remove/",
]
# Open to strangers: signing in and out, language and theme, the words of
# scripts, and what machines ask for.
OPEN = {
    "sign_in",
    "sign_in_link",
    "sign_in_code",
    "provider_start",
    "provider_return",
    "sign_out",
    "language",
    "preferences",
}
MACHINES = {
    "healthz",
    "readyz",
    "metrics",
    "group_metrics",
    "queue_metrics",
    "catalogue",
}


@pytest.fixture(autouse=True)
def documents(write: Write, nobody_there: None) -> None:
    write(overview(), waiting_for_locks())


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("page", PAGES)
def test_every_role_reads_every_page(sign_in: SignIn, page: str, role: Role) -> None:
    assert sign_in(role).get(page).status_code == 200


@pytest.mark.parametrize("page", [*PAGES, *ADMIN_PAGES, "/"])
def test_a_stranger_is_sent_to_sign_in(page: str) -> None:
    answer = Client().get(page)
    assert answer.status_code == 302
    assert answer["Location"] == f"/sign-in/?next={quote(page)}"


@pytest.mark.parametrize("page", [*PAGES, "/"])
def test_pages_only_read(sign_in: SignIn, page: str) -> None:
    if page.startswith("/account/") or page in FORMS:
        pytest.skip("it has a form of its own, which tests of its room send")
    assert sign_in(Role.ADMIN).post(page).status_code == 405


@pytest.mark.parametrize("page", ADMIN_PAGES)
def test_only_admins_see_the_pages_of_admins(sign_in: SignIn, page: str) -> None:
    answers = {role: sign_in(role).get(page).status_code for role in Role}
    assert answers == {Role.VIEWER: 403, Role.OPERATOR: 403, Role.ADMIN: 200}


def test_the_first_cluster_is_where_one_arrives(sign_in: SignIn) -> None:
    assert sign_in(Role.VIEWER).get("/")["Location"] == "/clusters/hangzhou/"


def test_no_page_is_forgotten_by_these_tests() -> None:
    """Every address of the table is open on purpose, or asks who is there."""
    for name, address in addresses(get_resolver()):
        if name in OPEN | MACHINES or address.startswith("/api/"):
            continue
        answer = Client().get(address)
        assert answer.status_code in {302, 405}, f"{name} at {address}"
        if answer.status_code == 302:
            assert answer["Location"].startswith("/sign-in/"), name


def addresses(resolver: URLResolver, before: str = "/") -> Iterator[tuple[str, str]]:
    for entry in resolver.url_patterns:
        path = before + filled(str(entry.pattern))
        if isinstance(entry, URLResolver):
            yield from addresses(entry, path)
        elif isinstance(entry, URLPattern):
            yield entry.name or path, path


def filled(pattern: str) -> str:
    """Put values in the places of an address."""
    pattern = pattern.replace("<str:cluster>", "hangzhou")
    pattern = pattern.replace("<str:group>", "order-settlement")
    return re.sub(r"<int:\w+>", "1", re.sub(r"<(str|slug):\w+>", "x", pattern))
