"""Setting up a second factor, signing in with it, losing it, and having to have it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import Mock

import pyotp
import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone

from dashboard.accounts import second_factor
from dashboard.accounts.links import make_sign_in_token
from dashboard.accounts.tokens import make_token
from dashboard.models import AuditEntry, Role, SecondFactor, User
from tests.dashboard.conftest import SignIn

GOOD = {"username": "vera", "password": "correct horse battery"}
PAGE = "/account/second-factor/"
CODE = "/sign-in/code/"
AT = datetime(2026, 3, 13, 12, 0, 10, tzinfo=UTC)


class Clock:
    """The time by which codes are made and accepted."""

    def __init__(self) -> None:
        self.now = AT

    def later(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    told = Mock(now=lambda: clock.now)
    monkeypatch.setattr("dashboard.accounts.half_signed_in.timezone", told)
    monkeypatch.setattr("dashboard.accounts.second_factor_pages.timezone", told)
    return clock


@pytest.fixture(autouse=True)
def vera(db: None) -> Iterator[User]:
    cache.clear()
    yield User.objects.create_user(**GOOD, role=Role.VIEWER)
    cache.clear()


def signed_in() -> Client:
    client = Client()
    client.force_login(User.objects.get(username="vera"))
    return client


def offered(client: Client) -> dict[str, str]:
    """Return the secret that the page offers, and the field that brings it back."""
    page = client.get(PAGE).content.decode()
    secret = re.search(r'class="secret">(\w+)<', page)
    kept = re.search(r'name="secret" value="([^"]+)"', page)
    assert secret is not None
    assert kept is not None
    return {"shown": secret[1], "secret": kept[1]}


def set_up(clock: Clock) -> tuple[pyotp.TOTP, list[str]]:
    """Set up vera's; return her app and her recovery codes, a step later."""
    client = signed_in()
    given = offered(client)
    app = pyotp.TOTP(given["shown"])
    fields = {"password": GOOD["password"], "code": app.at(clock.now)}
    page = client.post(PAGE, {**fields, "secret": given["secret"]}).content.decode()
    clock.later(seconds=30)
    return app, recovery_codes(page)


def recovery_codes(page: str) -> list[str]:
    return re.findall(r"\b\w{4}-\w{4}-\w{4}-\w{4}\b", page)


def half(**more: str) -> Client:
    """Return a browser from which the right password was sent."""
    client = Client()
    answer = client.post("/sign-in/", {**GOOD, **more})
    assert answer["Location"] == CODE
    return client


def test_setting_up_shows_a_secret_and_then_recovery_codes_once(clock: Clock) -> None:
    app, codes = set_up(clock)
    assert len(set(codes)) == second_factor.RECOVERY_CODES
    page = signed_in().get(PAGE).content.decode()
    assert "10 recovery codes are left" in page
    assert not any(each in page for each in (*codes, app.secret))
    assert AuditEntry.objects.filter(action="second_factor.set_up").count() == 1


def test_the_page_has_a_qr_code_of_the_secret() -> None:
    assert "<svg" in signed_in().get(PAGE).content.decode()


def test_a_wrong_code_or_password_sets_up_nothing_and_keeps_the_secret(
    clock: Clock,
) -> None:
    client = signed_in()
    given = offered(client)
    app = pyotp.TOTP(given["shown"])
    right = {"password": GOOD["password"], "code": app.at(clock.now)}
    for wrong in ({"code": app.at(clock.now, counter_offset=5)}, {"password": "wrong"}):
        fields = {**right, "secret": given["secret"], **wrong}
        page = client.post(PAGE, fields).content.decode()
        assert 'role="alert"' in page
        assert f">{given['shown']}<" in page
    assert not SecondFactor.objects.exists()


def test_a_secret_of_somebody_else_is_not_taken(clock: Clock) -> None:
    other = User.objects.create_user("paul", password="another battery horse")
    client = Client()
    client.force_login(other)
    given = offered(client)
    fields = {
        "password": GOOD["password"],
        "code": pyotp.TOTP(given["shown"]).at(clock.now),
        "secret": given["secret"],
    }
    signed_in().post(PAGE, fields)
    assert not SecondFactor.objects.exists()


def test_neither_secret_nor_recovery_codes_can_be_read_in_the_database(
    clock: Clock,
) -> None:
    app, codes = set_up(clock)
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret, recovery FROM dashboard_secondfactor")
        stored = str(cursor.fetchall())
    assert app.secret not in stored
    assert not any(each in stored or each.replace("-", "") in stored for each in codes)


def test_signing_in_asks_for_a_code_and_goes_where_one_wanted(clock: Clock) -> None:
    app, _codes = set_up(clock)
    client = half(next="/settings/")
    assert client.get("/settings/").status_code == 302
    answer = client.post(CODE, {"code": f" {app.at(clock.now)} "})
    assert (answer.status_code, answer["Location"]) == (302, "/settings/")
    assert client.get("/settings/").status_code == 200
    assert AuditEntry.objects.filter(action="sign_in").count() == 1


@pytest.mark.parametrize(
    ("steps", "is_right"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)]
)
def test_a_clock_may_be_one_step_early_or_late(
    clock: Clock, steps: int, is_right: bool
) -> None:
    app, _codes = set_up(clock)
    clock.later(minutes=10)
    answer = half().post(CODE, {"code": app.at(clock.now, counter_offset=steps)})
    assert (answer.status_code == 302) is is_right


def test_a_recovery_code_lets_in_once(clock: Clock) -> None:
    _app, codes = set_up(clock)
    typed = codes[3].lower().replace("-", " ")
    assert half().post(CODE, {"code": typed}).status_code == 302
    assert half().post(CODE, {"code": typed}).status_code == 200
    assert half().post(CODE, {"code": codes[4]}).status_code == 302
    used = AuditEntry.objects.filter(action="second_factor.recover")
    assert [each.details["left"] for each in used.order_by("pk")] == [9, 8]


def test_new_recovery_codes_replace_those_of_before(clock: Clock) -> None:
    app, codes = set_up(clock)
    fields = {"password": GOOD["password"], "code": app.at(clock.now), "do": "renew"}
    new = recovery_codes(signed_in().post(PAGE, fields).content.decode())
    assert len(new) == second_factor.RECOVERY_CODES
    assert half().post(CODE, {"code": codes[0]}).status_code == 200
    assert half().post(CODE, {"code": new[0]}).status_code == 302


def test_it_is_removed_with_the_password_and_a_code(clock: Clock) -> None:
    app, _codes = set_up(clock)
    client = signed_in()
    right = {"password": GOOD["password"], "code": app.at(clock.now), "do": "remove"}
    for wrong in ({"password": "wrong"}, {"code": "000000"}):
        client.post(PAGE, {**right, **wrong})
        assert SecondFactor.objects.exists()
    client.post(PAGE, right)
    assert not SecondFactor.objects.exists()
    assert Client().post("/sign-in/", GOOD)["Location"] == "/"
    assert AuditEntry.objects.filter(action="second_factor.remove").count() == 1


def test_an_admin_removes_it(clock: Clock, sign_in: SignIn, vera: User) -> None:
    set_up(clock)
    address = f"/account/users/{vera.pk}/second-factor/"
    assert address in sign_in(Role.ADMIN).get("/account/users/").content.decode()
    assert sign_in(Role.OPERATOR).post(address).status_code == 403
    assert SecondFactor.objects.exists()
    sign_in(Role.ADMIN).post(address)
    assert not SecondFactor.objects.exists()
    entry = AuditEntry.objects.get(action="second_factor.remove")
    assert (entry.actor_name, entry.target) == ("admin", "vera")
    assert address not in sign_in(Role.ADMIN).get("/account/users/").content.decode()


def test_a_link_asks_for_no_code(clock: Clock, vera: User) -> None:
    set_up(clock)
    client = Client()
    client.post(f"/sign-in/{make_sign_in_token(vera, timezone.now())}/")
    assert client.get("/account/").status_code == 200


def test_where_it_is_off_nobody_is_asked(clock: Clock, settings: Any) -> None:
    set_up(clock)
    settings.ROCKETSCOPE_SIGN_IN_SECOND_FACTOR = "off"
    assert Client().post("/sign-in/", GOOD)["Location"] == "/"
    client = signed_in()
    assert PAGE not in client.get("/account/").content.decode()
    assert client.post(PAGE).status_code == 400


def test_without_a_password_there_is_none(sign_in: SignIn) -> None:
    client = sign_in(Role.VIEWER)
    assert PAGE not in client.get("/account/").content.decode()
    assert "beside a password" in client.get(PAGE).content.decode()
    assert client.post(PAGE).status_code == 400


def test_whoever_needs_one_is_led_to_set_it_up(clock: Clock, settings: Any) -> None:
    settings.ROCKETSCOPE_SIGN_IN_SECOND_FACTOR = "required"
    client = Client()
    client.post("/sign-in/", GOOD)
    answer = client.get("/account/", follow=True)
    assert answer.redirect_chain[-1] == (PAGE, 302)
    page = answer.content.decode()
    assert "Please set up yours." in page
    assert "/clusters/" not in page
    set_up(clock)
    assert client.get("/account/").status_code == 200


def test_whoever_needs_one_can_sign_out(settings: Any) -> None:
    settings.ROCKETSCOPE_SIGN_IN_SECOND_FACTOR = "required"
    client = signed_in()
    client.post("/sign-out/")
    assert client.get(PAGE)["Location"].startswith("/sign-in/")


def test_others_need_none(sign_in: SignIn, settings: Any, vera: User) -> None:
    """Who has no password here, and programs with a token."""
    settings.ROCKETSCOPE_SIGN_IN_SECOND_FACTOR = "required"
    assert sign_in(Role.VIEWER).get("/account/").status_code == 200
    _token, secret = make_token(
        vera, name="x", role=Role.VIEWER, clusters=[], days=None, by=vera
    )
    headers = {"Authorization": f"Bearer {secret}"}
    assert Client().get("/api/v1/reports/runs", headers=headers).status_code == 200


def test_a_secret_under_another_secret_key_is_no_secret(
    clock: Clock, settings: Any
) -> None:
    app, codes = set_up(clock)
    settings.SECRET_KEY = "another key of at least fifty characters, for a test"
    client = half()
    assert client.post(CODE, {"code": app.at(clock.now)}).status_code == 200
    assert client.post(CODE, {"code": codes[0]}).status_code == 302
