"""Where signing in with a password is switched off, no door takes one."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from dashboard.accounts.links import make_sign_in_token
from dashboard.accounts.outside import Provider
from dashboard.models import Role, SignInLink, User
from tests.dashboard.conftest import SignIn

GOOD = {"username": "vera", "password": "correct horse battery"}


@pytest.fixture(autouse=True)
def vera(db: None, settings: Any) -> Iterator[User]:
    cache.clear()
    settings.ROCKETSCOPE_OIDC = Provider("http://127.0.0.1:9", "a", "b", "Example ID")
    user = User.objects.create_user(**GOOD, role=Role.ADMIN)
    settings.ROCKETSCOPE_SIGN_IN_PASSWORDS = False
    yield user
    cache.clear()


def test_the_page_shows_no_form() -> None:
    page = Client().get("/sign-in/").content.decode()
    assert "Sign in with Example ID" in page
    assert "<form" not in page
    assert "password" not in page.lower()


def test_a_right_password_is_refused(settings: Any) -> None:
    client = Client()
    answer = client.post("/sign-in/", GOOD)
    assert answer.status_code == 403
    assert "Signing in with a password is switched off." in answer.content.decode()
    assert client.get("/account/").status_code == 302
    settings.ROCKETSCOPE_SIGN_IN_PASSWORDS = True
    assert client.post("/sign-in/", GOOD).status_code == 302


def test_the_rest_api_takes_none() -> None:
    pair = base64.b64encode(":".join(GOOD.values()).encode()).decode()
    headers = {"Authorization": f"Basic {pair}"}
    assert Client().get("/api/v1/clusters", headers=headers).status_code == 401


def test_nobody_sets_a_password(sign_in: SignIn) -> None:
    client = sign_in(Role.VIEWER)
    page = client.get("/account/").content.decode()
    assert 'type="password"' not in page
    assert "Signing in with a password is switched off." in page
    new = {"new_password1": "another horse battery"}
    answer = client.post("/account/", {**new, "new_password2": new["new_password1"]})
    assert answer.status_code == 403


def test_pages_make_no_links(sign_in: SignIn, vera: User) -> None:
    client = sign_in(Role.ADMIN)
    assert client.post(f"/account/users/{vera.pk}/link/").status_code == 403
    answer = client.post("/account/users/", {"username": "robot", "role": "viewer"})
    assert User.objects.filter(username="robot").exists()
    page = answer.content.decode()
    assert "/sign-in/" not in page
    assert "Make a sign-in link" not in page
    assert not SignInLink.objects.exists()


def test_the_command_line_lets_an_admin_in_all_the_same(vera: User) -> None:
    """Whoever has a shell on the server has everything; the provider may be away."""
    out = StringIO()
    call_command("sign_in_link", stdout=out)
    address = out.getvalue().strip().partition(":8300")[2]
    client = Client()
    assert client.post(address).status_code == 302
    assert client.get("/account/").status_code == 200


def test_a_link_that_is_older_than_the_switch_still_works_once(vera: User) -> None:
    link = f"/sign-in/{make_sign_in_token(vera, timezone.now())}/"
    assert Client().post(link).status_code == 302
