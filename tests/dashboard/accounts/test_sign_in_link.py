from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from dashboard.accounts.links import (
    SignInLinkError,
    first_user,
    lifetime,
    make_sign_in_token,
    use_sign_in_token,
)
from dashboard.models import AuditEntry, Role, SignInLink, User

NOW = timezone.now()


@pytest.fixture
def vera(db: None) -> User:
    return User.objects.create_user("vera", role=Role.OPERATOR)


def printed(**options: Any) -> str:
    out = StringIO()
    call_command("sign_in_link", stdout=out, **options)
    return out.getvalue().strip()


def test_a_link_lets_in_once(vera: User) -> None:
    address = f"/sign-in/{make_sign_in_token(vera, timezone.now())}/"
    client = Client()
    assert b"Sign in as vera" in client.get(address).content
    assert client.post(address)["Location"] == "/"
    assert client.get("/settings/").status_code == 200
    again = Client().post(address)
    assert again.status_code == 403
    assert b"works once" in again.content


def test_a_link_is_good_for_fifteen_minutes(vera: User) -> None:
    assert lifetime() == timedelta(minutes=15)
    token = make_sign_in_token(vera, NOW)
    with pytest.raises(SignInLinkError, match="too old"):
        use_sign_in_token(token, NOW + timedelta(minutes=15))
    assert use_sign_in_token(token, NOW + timedelta(minutes=14, seconds=59)) == vera


@pytest.mark.parametrize("token", ["", "x", "a:b:c", "WzEsICJ4Il0:1:2"])
def test_a_token_made_elsewhere_is_refused(vera: User, token: str) -> None:
    with pytest.raises(SignInLinkError, match="not made by this"):
        use_sign_in_token(token, NOW)


def test_a_changed_token_is_refused(vera: User) -> None:
    token = make_sign_in_token(vera, NOW)
    with pytest.raises(SignInLinkError):
        use_sign_in_token(token[:-1] + ("A" if token[-1] != "A" else "B"), NOW)


def test_a_user_switched_off_meanwhile_is_refused(vera: User) -> None:
    token = make_sign_in_token(vera, NOW)
    User.objects.update(is_active=False)
    with pytest.raises(SignInLinkError):
        use_sign_in_token(token, NOW)


def test_the_database_does_not_hold_what_lets_in(vera: User) -> None:
    token = make_sign_in_token(vera, NOW)
    assert SignInLink.objects.get().digest not in token


def test_old_links_are_swept_out(vera: User) -> None:
    make_sign_in_token(vera, NOW - timedelta(days=2))
    make_sign_in_token(vera, NOW)
    assert SignInLink.objects.count() == 1


def test_making_and_using_are_audited(vera: User) -> None:
    use_sign_in_token(make_sign_in_token(vera, NOW), NOW)
    assert list(AuditEntry.objects.values_list("actor_name", "action", "target")) == [
        ("vera", "sign_in_link.use", "vera"),
        ("rocketscope", "sign_in_link.make", "vera"),
    ]


def test_the_first_user_is_made_where_there_is_none(db: None) -> None:
    user = first_user()
    assert (user.username, user.role) == ("admin", Role.ADMIN)
    assert not user.has_usable_password()
    assert first_user() == user
    assert AuditEntry.objects.filter(action="user.add").count() == 1


def test_the_command_prints_an_address_that_lets_in(db: None) -> None:
    link = printed(base_url="http://127.0.0.1:8300/")
    assert link.startswith("http://127.0.0.1:8300/sign-in/")
    assert Client().post(link.removeprefix("http://127.0.0.1:8300")).status_code == 302


@pytest.mark.parametrize(
    ("listen", "base"),
    [
        (("127.0.0.1", 8300), "http://127.0.0.1:8300/"),
        (("0.0.0.0", 80), "http://127.0.0.1:80/"),
        (("::", 80), "http://[::1]:80/"),
        (("scope.example", 443), "http://scope.example:443/"),
    ],
)
def test_the_address_follows_where_the_page_listens(
    db: None, settings: Any, listen: tuple[str, int], base: str
) -> None:
    settings.ROCKETSCOPE_LISTEN = listen
    assert printed().startswith(base + "sign-in/")


def test_the_command_names_a_user_that_is_not_there(vera: User) -> None:
    assert "/sign-in/" in printed(user="vera")
    with pytest.raises(CommandError, match="'paul'"):
        printed(user="paul")
