from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import Client

from dashboard.accounts.attempts import record_refusal
from dashboard.models import AuditEntry, Role
from dashboard.models.audit import SIGN_IN, record
from tests.dashboard.conftest import SignIn
from tests.dashboard.overview.test_pages import text_of
from tests.dashboard.reports.test_pages import gathered


@pytest.fixture
def admin(sign_in: SignIn) -> Client:
    return sign_in(Role.ADMIN)


def test_the_audit_page_shows_the_newest_first(admin: Client) -> None:
    record(None, "member.add", cluster="east", target="demo", reason="for the sale")
    record(None, "member.remove", target="demo", outcome=AuditEntry.Outcome.REFUSED)
    page = text_of(admin.get("/audit/"))
    assert page.index("Remove a member from demo") < page.index("Add a member to demo")
    assert "east done for the sale" in page
    assert "refused" in page
    assert "2 entries" in page


def test_the_audit_page_is_searched_and_paged(admin: Client) -> None:
    for number in range(105):
        record(None, "x", target=f"group-{number:03}")
    assert "page 1 of 2" in text_of(admin.get("/audit/"))
    assert "group-004" in text_of(admin.get("/audit/", {"page": "2"}))
    assert "1 entry" in text_of(admin.get("/audit/", {"q": "group-077"}))
    assert "No entries match “zzz”." in text_of(admin.get("/audit/", {"q": "zzz"}))


def test_an_empty_audit_page_says_what_will_stand_there(admin: Client) -> None:
    assert "Nothing has been changed yet" in text_of(admin.get("/audit/"))


def test_sign_ins_are_shown_with_their_address_and_number(admin: Client) -> None:
    record_refusal(SIGN_IN, "root", "10.9.8.7")
    record_refusal(SIGN_IN, "root", "10.9.8.7")
    record(None, "member.add")
    page = text_of(admin.get("/audit/"))
    assert "not signed in Sign in as root refused × 2 10.9.8.7" in page
    assert "1 entry" in text_of(admin.get("/audit/", {"q": "9.8.7"}))


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("sign-ins", {SIGN_IN}),
        ("changes", {"member.add"}),
        ("x", {SIGN_IN, "member.add"}),
    ],
)
def test_sign_ins_and_changes_are_shown_apart(
    admin: Client, kind: str, shown: set[str]
) -> None:
    record_refusal(SIGN_IN, "root", "10.9.8.7")
    record(None, "member.add")
    listed = admin.get("/audit/", {"kind": kind}).context["page"]
    assert {entry.action for entry in listed} == shown


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_the_trail_is_for_admins(sign_in: SignIn, role: Role) -> None:
    client = sign_in(role)
    for address in ("/audit/", "/audit/audit.csv", "/audit/audit.jsonl"):
        assert client.get(address).status_code == 403
    assert b'href="/audit/"' not in client.get("/settings/").content
    assert b'href="/audit/"' in sign_in(Role.ADMIN).get("/settings/").content


def test_files_follow_the_filters(admin: Client) -> None:
    record(None, "member.add", target="a")
    record(None, "member.add", target="b")
    page = admin.get("/audit/", {"q": "member", "kind": "changes"}).content
    address = "/audit/audit.csv?q=member&kind=changes"
    assert address.replace("&", "&amp;").encode() in page
    answer = admin.get("/audit/audit.csv", {"q": "member", "kind": "sign-ins"})
    assert gathered(answer).count(b"\r\n") == 1
    assert answer["Content-Disposition"] == 'attachment; filename="audit.csv"'
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize(
    ("fields", "targets"),
    [
        ({"who": "olga"}, {"a"}),
        ({"action": "member.remove"}, {"b"}),
        ({"outcome": "failed"}, {"b"}),
        ({"cluster": "hangzhou"}, {"a"}),
        ({"since": "2026-03-13", "until": "2026-03-13"}, {"a"}),
        ({"since": "2026-03-14"}, {"b"}),
        ({"q": "remove a member"}, {"b"}),
        ({"since": "soon", "outcome": "lost", "action": "x"}, {"a", "b"}),
    ],
)
def test_each_filter_keeps_its_entries(
    admin: Client, fields: dict[str, str], targets: set[str]
) -> None:
    record(None, "member.add", target="a", cluster="hangzhou")
    outcome = AuditEntry.Outcome.FAILED
    record(None, "member.remove", target="b", cluster="east", outcome=outcome)
    for target, actor, day in (("a", "olga", 13), ("b", "vera", 14)):
        at = datetime(2026, 3, day, 12, tzinfo=UTC)
        AuditEntry.objects.filter(target=target).update(actor_name=actor, at=at)
    answer = admin.get("/audit/", fields)
    assert {entry.target for entry in answer.context["page"]} == targets
    file = gathered(admin.get("/audit/audit.jsonl", fields))
    assert file.count(b"\n") == len(targets)


def test_an_unknown_format_is_named(admin: Client) -> None:
    answer = admin.get("/audit/audit.exe")
    assert answer.status_code == 404
    assert "“exe”" in text_of(answer)
