from __future__ import annotations

import pytest
from django.test import Client

from dashboard.models import AuditEntry, Role
from dashboard.models.audit import record
from tests.dashboard.conftest import SignIn
from tests.dashboard.overview.test_pages import text_of


@pytest.fixture
def viewer(sign_in: SignIn) -> Client:
    return sign_in(Role.VIEWER)


def test_the_audit_page_shows_the_newest_first(viewer: Client) -> None:
    record(None, "member.add", cluster="east", target="demo", reason="for the sale")
    record(None, "member.remove", target="demo", outcome=AuditEntry.Outcome.REFUSED)
    page = text_of(viewer.get("/audit/"))
    assert page.index("member.remove") < page.index("member.add")
    assert "east demo done for the sale" in page
    assert "refused" in page
    assert "2 entries" in page


def test_the_audit_page_is_searched_and_paged(viewer: Client) -> None:
    for number in range(105):
        record(None, "x", target=f"group-{number:03}")
    assert "page 1 of 2" in text_of(viewer.get("/audit/"))
    assert "group-004" in text_of(viewer.get("/audit/", {"page": "2"}))
    assert "1 entry" in text_of(viewer.get("/audit/", {"q": "group-077"}))
    assert "No entries match “zzz”." in text_of(viewer.get("/audit/", {"q": "zzz"}))


def test_an_empty_audit_page_says_what_will_stand_there(viewer: Client) -> None:
    assert "Nothing has been changed yet" in text_of(viewer.get("/audit/"))


def test_the_settings_page_shows_clusters_and_values(
    viewer: Client, hangzhou: object
) -> None:
    page = text_of(viewer.get("/settings/"))
    assert "hangzhou 10.20.6.1:9876, 10.20.6.2:9876 off none configured" in page
    assert "ROCKETSCOPE_LISTEN 127.0.0.1:8300" in page


def test_the_link_to_users_is_for_admins(sign_in: SignIn) -> None:
    address = b'href="/account/users/"'
    assert address in sign_in(Role.ADMIN).get("/settings/").content
    assert address not in sign_in(Role.OPERATOR).get("/settings/").content
