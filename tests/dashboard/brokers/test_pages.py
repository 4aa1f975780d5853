"""The page on which a person says that a missing broker is gone for good."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.models import AuditEntry, Role
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.missing import broker_missing, overview_missing
from tests.dashboard.overview.test_pages import text_of

PAGE = "/clusters/hangzhou/brokers/hz2@broker-c/gone/"
SILENT = "/clusters/hangzhou/brokers/hz2@broker-b/gone/"
GROUP = "/clusters/hangzhou/groups/order-settlement/"


@pytest.fixture
def operator(sign_in: SignIn, write: Write) -> Client:
    write(overview_missing(), broker_missing())
    return sign_in(Role.OPERATOR)


def test_the_page_says_what_it_means_and_asks_for_a_reason(operator: Client) -> None:
    assert reverse("broker-gone", args=["hangzhou", "hz2@broker-c"]) == PAGE
    page = operator.get(PAGE)
    assert "hz2@broker-c has been missing from the name servers" in text_of(page)
    assert "Nothing is changed in the cluster." in text_of(page)
    assert b"disabled" not in page.content


def test_the_word_leads_back_to_where_one_came_from(operator: Client) -> None:
    answer = operator.post(
        PAGE, {"reason": "scrapped", "group": "order-settlement"}, follow=True
    )
    assert answer.redirect_chain == [(GROUP, 302)]
    assert "“hz2@broker-c” counts as gone for good" in text_of(answer)
    assert AuditEntry.objects.get().reason == "scrapped"
    answer = operator.post(PAGE, {"reason": "scrapped"})
    assert answer["Location"] == "/clusters/hangzhou/"


@pytest.mark.parametrize("group", ["a/b", "//evil.example"])
def test_it_leads_to_pages_of_the_cluster_alone(operator: Client, group: str) -> None:
    answer = operator.post(PAGE, {"reason": "scrapped", "group": group})
    assert answer["Location"].startswith("/clusters/hangzhou/groups/")
    assert "//" not in answer["Location"]


def test_what_is_refused_is_said_and_the_reason_kept(operator: Client) -> None:
    answer = operator.post(SILENT, {"reason": "typed with care"})
    assert answer.status_code == 409
    assert "it is not gone" in text_of(answer)
    assert b'value="typed with care"' in answer.content
    assert operator.post(PAGE, {}).status_code == 409
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("path", [SILENT, "/clusters/hangzhou/brokers/x/gone/"])
def test_a_broker_that_is_not_missing_gets_a_button_that_is_off(
    operator: Client, path: str
) -> None:
    page = operator.get(path)
    assert b'<button class="button button-main" disabled>' in page.content
    assert "Only a broker that is missing from the name servers" in text_of(page)


def test_only_operators_come_here(sign_in: SignIn, write: Write) -> None:
    write(overview_missing())
    viewer = sign_in(Role.VIEWER)
    assert viewer.get(PAGE).status_code == 403
    assert viewer.post(PAGE, {"reason": "x"}).status_code == 403
    assert Client().post(PAGE, {"reason": "x"}).status_code == 302
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("role", "offered"), [(Role.VIEWER, 0), (Role.OPERATOR, 1), (Role.ADMIN, 1)]
)
def test_the_cluster_offers_it_for_missing_brokers_only(
    sign_in: SignIn, write: Write, role: Role, offered: int
) -> None:
    write(overview_missing())
    content = sign_in(role).get("/clusters/hangzhou/").content.decode()
    assert content.count("/gone/") == offered
    assert content.count(PAGE) == offered
