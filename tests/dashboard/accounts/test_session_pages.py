from __future__ import annotations

import pytest
from django.test import Client

from dashboard.models import AuditEntry, Role, Session, User
from tests.dashboard.conftest import SignIn

LINUX = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"
PASSWORD = "correct horse battery"
OWN = "/account/sessions/"


@pytest.fixture
def vera(db: None) -> User:
    return User.objects.create_user("vera", password=PASSWORD)


def signed_in(browser: str = LINUX, address: str = "10.0.0.7") -> Client:
    client = Client(headers={"User-Agent": browser}, REMOTE_ADDR=address)
    client.post("/sign-in/", {"username": "vera", "password": PASSWORD})
    return client


def key_of(client: Client) -> str:
    """Return what the page names a browser's session by."""
    page = client.get(OWN)
    return next(str(each.row.pk) for each in page.context["sessions"] if each.is_this)


def test_one_sees_ones_sessions_and_which_one_this_is(vera: User) -> None:
    phone = signed_in("Mozilla/5.0 (Linux; Android 16) Chrome/150", "10.0.0.8")
    page = signed_in().get(OWN)
    found = {
        (each.browser, each.row.address, each.is_this)
        for each in page.context["sessions"]
    }
    assert found == {
        ("Firefox · Linux", "10.0.0.7", True),
        ("Chrome · Android", "10.0.0.8", False),
    }
    text = page.content.decode()
    assert text.count("this session") == 1
    assert "End the session in Chrome · Android at 10.0.0.8" in text
    assert key_of(phone) in text


def test_a_single_session_offers_nothing_to_end(vera: User) -> None:
    assert b'name="end"' not in signed_in().get(OWN).content


def test_one_ends_one_of_ones_sessions(vera: User) -> None:
    lost, kept, here = signed_in(), signed_in(), signed_in()
    answer = here.post(OWN, {"end": key_of(lost)}, follow=True)
    assert b"1 session is ended." in answer.content
    assert lost.get(OWN).status_code == 302
    assert {kept.get(OWN).status_code, here.get(OWN).status_code} == {200}
    entry = AuditEntry.objects.get(action="session.end")
    assert (entry.actor_name, entry.target) == ("vera", "vera")
    assert entry.details == {"address": "10.0.0.7", "number": 1}


def test_one_ends_all_others(vera: User) -> None:
    others, here = [signed_in(), signed_in()], signed_in()
    answer = here.post(OWN, {"end": "others"}, follow=True)
    assert b"2 sessions are ended." in answer.content
    assert {each.get(OWN).status_code for each in others} == {302}
    assert AuditEntry.objects.get(action="session.end").details == {"number": 2}


def test_ending_this_session_is_signing_out(vera: User) -> None:
    here = signed_in()
    answer = here.post(OWN, {"end": key_of(here)})
    assert answer["Location"] == "/sign-in/"
    assert not Session.objects.exists()


@pytest.mark.parametrize("end", ["", "x", "0" * 64])
def test_a_session_that_there_is_not_is_not_found(vera: User, end: str) -> None:
    assert signed_in().post(OWN, {"end": end}).status_code == 404
    assert Session.objects.count() == 1


def test_an_admin_sees_and_ends_anybodys(vera: User, sign_in: SignIn) -> None:
    admin, first, second = sign_in(Role.ADMIN), signed_in(), signed_in()
    address = f"/account/users/{vera.pk}/sessions/"
    assert address in admin.get("/account/users/").content.decode()
    assert b"this session" not in admin.get(address).content
    admin.post(address, {"end": key_of(first)})
    assert first.get(OWN).status_code == 302
    answer = admin.post(address, {"end": "others"}, follow=True)
    assert second.get(OWN).status_code == 302
    assert b"vera is signed in nowhere." in answer.content
    entries = AuditEntry.objects.filter(action="session.end")
    assert {(each.actor_name, each.target) for each in entries} == {("admin", "vera")}
    assert admin.get(OWN).status_code == 200


def test_the_session_of_another_is_not_ended_under_ones_name(
    vera: User, sign_in: SignIn
) -> None:
    admin, other = sign_in(Role.ADMIN), signed_in()
    assert admin.post(OWN, {"end": key_of(other)}).status_code == 404
    assert admin.get("/account/users/999/sessions/").status_code == 404
    assert other.get(OWN).status_code == 200
