"""Getting past the second factor: guessing, replaying, and doing without."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import Mock

import pyotp
import pytest
from asgiref.sync import sync_to_async
from django.core import signing
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client, override_settings

from dashboard.accounts import second_factor
from dashboard.accounts.half_signed_in import COOKIE, SECONDS
from dashboard.accounts.second_factor_middleware import OPEN
from dashboard.accounts.throttle import LIMIT, CodeThrottle
from dashboard.live.admission import CLOSE_SIGNED_OUT
from dashboard.models import AuditEntry, Role, SecondFactor, Session, User
from tests.attacks.routes import (
    ANYONE,
    PAGES,
    REST,
    is_turned_away,
    let_go,
    pages,
    path_of,
    rest,
    sample_body,
)
from tests.attacks.test_sockets import talk

GOOD = {"username": "vera", "password": "correct horse battery"}
CODE = "/sign-in/code/"
PAGE = "/account/second-factor/"
AT = datetime(2026, 3, 13, 12, 0, 10, tzinfo=UTC)
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
RECOVERY = "ABCD-EFGH-IJKL-MNOP"
APP = pyotp.TOTP(SECRET)


class Clock:
    now = AT

    def later(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    told = Mock(now=lambda: clock.now)
    monkeypatch.setattr("dashboard.accounts.half_signed_in.timezone", told)
    monkeypatch.setattr("dashboard.accounts.second_factor_pages.timezone", told)
    return clock


def make(name: str = "vera", *, role: Role = Role.ADMIN, has_one: bool = True) -> User:
    user = User.objects.create_user(name, password=GOOD["password"], role=role)
    if has_one:
        SecondFactor.objects.create(
            user=user,
            secret=SECRET,
            set_up_at=AT,
            last_step=0,
            recovery=[second_factor._digest(RECOVERY)],
        )
    return user


@pytest.fixture
def vera(db: None) -> Iterator[User]:
    cache.clear()
    yield make()
    cache.clear()


def half(address: str = "127.0.0.1", **more: str) -> Client:
    client = Client(REMOTE_ADDR=address, raise_request_exception=False)
    answer = client.post("/sign-in/", {**GOOD, **more})
    assert answer["Location"] == CODE
    return client


def guess(client: Client, code: str) -> bool:
    """Send a code; tell whether it lets in."""
    return bool(client.post(CODE, {"code": code}).status_code == 302)


def test_a_code_counts_once(vera: User, clock: Clock) -> None:
    code = APP.at(clock.now)
    assert guess(half(), code)
    assert not guess(half(), code)
    clock.later(seconds=30)
    assert not guess(half(), code)
    assert guess(half(), APP.at(clock.now))


def test_no_code_counts_after_a_newer_one(vera: User, clock: Clock) -> None:
    assert guess(half(), APP.at(clock.now, counter_offset=1))
    assert not guess(half(), APP.at(clock.now))
    assert not guess(half(), APP.at(clock.now, counter_offset=-1))


@pytest.mark.parametrize("has_clock", [True, False], ids=["code", "recovery code"])
@pytest.mark.django_db(transaction=True)
def test_two_at_the_same_moment_get_one_in(clock: Clock, *, has_clock: bool) -> None:
    user, code = make(), APP.at(clock.now) if has_clock else RECOVERY
    let_in: list[bool] = []
    begin = threading.Barrier(4)

    def ask() -> None:
        begin.wait(60)
        try:
            second_factor.use_code(user, code, address="10.0.0.1", now=clock.now)
            let_in.append(True)
        except ValidationError:
            let_in.append(False)
        finally:
            connection.close()

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert sorted(let_in) == [False, False, False, True]


def test_guesses_are_counted_for_the_account_wherever_they_come_from(
    vera: User, clock: Clock
) -> None:
    for number in range(LIMIT):
        assert not guess(half(f"10.0.0.{number}"), "000000")
    clock.later(seconds=299)
    assert not guess(half("10.0.1.1"), APP.at(clock.now))
    assert not guess(half("10.0.1.1"), RECOVERY)
    clock.later(seconds=30)
    assert guess(half("10.0.1.1"), APP.at(clock.now))


def test_each_ten_guesses_bring_a_longer_pause(vera: User, clock: Clock) -> None:
    for tens in range(1, 4):
        for number in range(LIMIT):
            assert not guess(half(f"10.0.{tens}.{number}"), "000000")
        clock.later(minutes=5 * tens, seconds=-1)
        assert not guess(half("10.1.0.1"), APP.at(clock.now))
        clock.later(seconds=1)
    assert guess(half("10.1.0.1"), APP.at(clock.now))
    assert SecondFactor.objects.get().wrong == 0


def test_a_new_password_step_forgets_no_guesses(vera: User, clock: Clock) -> None:
    for number in range(LIMIT - 1):
        assert not guess(half(f"10.0.0.{number}"), "000000")
    half()
    assert SecondFactor.objects.get().wrong == LIMIT - 1


@override_settings(
    CACHES={
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:9",
        }
    }
)
def test_a_cache_that_is_away_gives_nobody_more_guesses(
    vera: User, clock: Clock
) -> None:
    for _each in range(LIMIT):
        assert not guess(half(), "000000")
    assert not guess(half(), APP.at(clock.now))


def test_guesses_are_counted_for_an_address_whoever_they_are_for(
    vera: User, clock: Clock
) -> None:
    for number in range(CodeThrottle.limit // 6):
        make(f"u{number}", role=Role.VIEWER)
        client = half(username=f"u{number}")
        for _each in range(6):
            assert not guess(client, "000000")
    page = half().post(CODE, {"code": APP.at(clock.now)}).content.decode()
    assert "wrong codes: wait five minutes" in page
    assert guess(half("10.0.0.9"), APP.at(clock.now))


def test_guesses_are_in_the_audit(vera: User) -> None:
    client = half()
    for _each in range(3):
        guess(client, "000000")
    entry = AuditEntry.objects.get(action="second_factor.use")
    assert (entry.target, entry.times, entry.outcome) == ("vera", 3, "refused")
    assert not AuditEntry.objects.filter(action="sign_in").exists()


@pytest.mark.parametrize(
    "code",
    [
        "",
        " ",
        "00000",
        "0000000",
        "０００００0",
        "١٢٣٤٥٦",
        "-",
        "A" * 41,
        "\0",
        "ß" * 16,
    ],
)
def test_what_is_no_code_is_refused(vera: User, code: str) -> None:
    assert half().post(CODE, {"code": code}).status_code == 200


def test_an_empty_secret_makes_no_codes(vera: User, clock: Clock) -> None:
    SecondFactor.objects.update(secret="")
    step = int(clock.now.timestamp()) // 30
    assert not guess(half(), pyotp.HOTP("A" * 32).at(step))


def test_the_right_password_alone_opens_no_page(vera: User) -> None:
    client = half()
    assert not Session.objects.exists()
    for route in pages():
        if PAGES[route.name].get("GET", ANYONE) != ANYONE:
            assert is_turned_away(client.get(route.path())), route.name


def test_the_right_password_alone_opens_no_call(vera: User) -> None:
    client = half()
    for method, route in rest():
        if REST.get((method, route.name)) != ANYONE:
            body = sample_body(route)
            answer = client.generic(method, route.path(), str(body), "application/json")
            assert answer.status_code == 401, route.name


@pytest.mark.django_db(transaction=True)
async def test_the_right_password_alone_opens_no_socket(hangzhou: object) -> None:
    await sync_to_async(make)()
    client = await sync_to_async(half)()
    kept = client.cookies[COOKIE].value
    assert not await talk(kept).connect()


def cookie_of(client: Client) -> Any:
    return client.cookies[COOKIE]


def test_the_cookie_goes_to_its_page_only_and_scripts_cannot_read_it(
    vera: User,
) -> None:
    cookie = cookie_of(half())
    assert (cookie["path"], cookie["httponly"]) == (CODE, True)
    assert (cookie["samesite"], cookie["max-age"]) == ("Lax", SECONDS)


def test_a_cookie_that_was_changed_counts_for_nobody(vera: User, clock: Clock) -> None:
    other = make("paul")
    real = cookie_of(half()).value
    mark = signing.loads(real, salt="rocketscope.half-signed-in")[1]
    forged = [
        "",
        "x",
        real[:-1] + ("A" if real[-1] != "A" else "B"),
        "x" + real,
        signing.dumps([vera.pk, mark, ""]),
        signing.dumps([vera.pk, mark, ""], key="guessed", salt="rocketscope.half"),
        signing.dumps([other.pk, mark, ""], salt="rocketscope.half-signed-in"),
        signing.dumps("x", salt="rocketscope.half-signed-in"),
    ]
    for value in forged:
        client = Client()
        client.cookies[COOKIE] = value
        answer = client.post(CODE, {"code": APP.at(clock.now)})
        assert answer.status_code == 400, value
    assert guess(half(), APP.at(clock.now))


def test_the_cookie_ends_after_five_minutes(
    vera: User, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = half()
    now = signing.time.time()
    monkeypatch.setattr(signing.time, "time", lambda: now + SECONDS + 2)
    assert client.post(CODE, {"code": APP.at(clock.now)}).status_code == 400


def test_the_cookie_ends_with_the_password_the_user_or_the_factor(
    vera: User, clock: Clock
) -> None:
    client = half()

    def status() -> int:
        code = {"code": APP.at(clock.now, counter_offset=1)}
        return client.post(CODE, code).status_code

    vera.set_password("another horse battery")
    vera.save()
    assert status() == 400
    vera.set_password(GOOD["password"])
    vera.save()
    assert status() == 400
    client = half()
    User.objects.update(is_active=False)
    assert status() == 400
    User.objects.update(is_active=True)
    factor = SecondFactor.objects.get()
    factor.delete()
    assert status() == 400
    factor.save(force_insert=True)
    assert status() == 302


def test_a_code_is_not_taken_from_another_site(vera: User, clock: Clock) -> None:
    kept = cookie_of(half()).value
    client = Client(enforce_csrf_checks=True)
    client.cookies[COOKIE] = kept
    assert client.post(CODE, {"code": APP.at(clock.now)}).status_code == 403


def test_nobody_is_led_to_another_site(vera: User, clock: Clock) -> None:
    client = half(next="https://evil.example/")
    answer = client.post(CODE, {"code": APP.at(clock.now)})
    assert answer["Location"] == "/"


def test_an_open_session_without_password_or_code_removes_and_replaces_nothing(
    vera: User, clock: Clock
) -> None:
    client = Client()
    client.force_login(vera)
    for fields in (
        {"code": APP.at(clock.now), "do": "remove"},
        {"password": GOOD["password"], "do": "remove"},
        {"password": GOOD["password"], "code": "000000", "do": "renew"},
        {"secret": signing.dumps([vera.pk, SECRET], salt="rocketscope.second-factor")},
    ):
        client.post(PAGE, fields)
    factor = SecondFactor.objects.get()
    assert factor.secret == SECRET
    assert factor.recovery == [second_factor._digest(RECOVERY)]


@pytest.mark.usefixtures("one_of_each")
def test_where_one_is_required_a_session_opens_nothing_before(settings: Any) -> None:
    settings.ROCKETSCOPE_SIGN_IN_SECOND_FACTOR = "required"
    client = Client(raise_request_exception=False)
    client.force_login(make(has_one=False))
    for route in pages():
        if route.name in OPEN or PAGES[route.name].get("GET", ANYONE) == ANYONE:
            continue
        answer = client.get(path_of(route))
        let_go(answer)
        assert is_turned_away(answer), route.name
    for method, route in rest():
        if REST.get((method, route.name)) == ANYONE:
            continue
        answer = client.generic(method, route.path(), "{}", "application/json")
        assert answer.status_code == 401, route.name
    assert "order-settlement" not in client.get("/nothing-here/").content.decode()
    assert client.get(PAGE).status_code == 200


@pytest.mark.django_db(transaction=True)
async def test_where_one_is_required_no_socket_opens_or_stays(
    hangzhou: object, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.live.admission.CHECK_SECONDS", 0.01)
    settings.ROCKETSCOPE_SIGN_IN_SECOND_FACTOR = "required"
    user = await sync_to_async(make)()
    client = Client()
    await sync_to_async(client.force_login)(user)
    cookie = str(client.cookies["rocketscope_session"].value)
    socket = talk(cookie)
    assert await socket.connect()
    await SecondFactor.objects.all().adelete()
    assert (await socket.event())["code"] == CLOSE_SIGNED_OUT
    await socket.disconnect()
    assert not await talk(cookie).connect()


def test_a_stolen_database_makes_no_codes(vera: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret, recovery FROM dashboard_secondfactor")
        stored = str(cursor.fetchall())
    assert SECRET not in stored
    assert RECOVERY not in stored
    assert RECOVERY.replace("-", "") not in stored
