from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.test import Client, override_settings

from dashboard.accounts.throttle import LIMIT, SignInThrottle
from dashboard.models import Role, User

GOOD = {"username": "vera", "password": "correct horse battery"}
BAD = {**GOOD, "password": "wrong"}


@pytest.fixture(autouse=True)
def vera(db: None) -> Iterator[User]:
    cache.clear()
    yield User.objects.create_user(**GOOD, role=Role.VIEWER)
    cache.clear()


def test_the_right_password_leads_to_the_page_asked_for() -> None:
    answer = Client().post("/sign-in/", {**GOOD, "next": "/settings/"})
    assert (answer.status_code, answer["Location"]) == (302, "/settings/")


def test_another_site_is_never_led_to() -> None:
    answer = Client().post("/sign-in/", {**GOOD, "next": "https://evil.example/"})
    assert answer["Location"] == "/"


def test_a_wrong_password_is_refused_in_words() -> None:
    answer = Client().post("/sign-in/", BAD)
    assert answer.status_code == 200
    assert b'role="alert"' in answer.content


def test_who_was_switched_off_is_refused(vera: User) -> None:
    vera.is_active = False
    vera.save()
    assert Client().post("/sign-in/", GOOD).status_code == 200


def test_too_many_wrong_ones_bring_a_pause_even_for_the_right_one() -> None:
    client = Client()
    for _ in range(LIMIT):
        client.post("/sign-in/", BAD)
    answer = client.post("/sign-in/", GOOD)
    assert f"{LIMIT} wrong passwords".encode() in answer.content


def test_the_right_one_forgets_the_wrong_ones() -> None:
    client = Client()
    for _ in range(LIMIT - 1):
        client.post("/sign-in/", BAD)
    assert client.post("/sign-in/", GOOD).status_code == 302
    assert Client().post("/sign-in/", BAD).status_code == 200
    assert Client().post("/sign-in/", GOOD).status_code == 302


def test_other_people_are_not_held_up() -> None:
    for _ in range(LIMIT):
        SignInThrottle("vera", "10.0.0.1").failed()
    SignInThrottle("vera", "10.0.0.2").check()
    SignInThrottle("paul", "10.0.0.1").check()


@override_settings(
    CACHES={
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:9",
        }
    }
)
def test_a_count_that_is_away_lets_people_in() -> None:
    assert Client().post("/sign-in/", BAD).status_code == 200
    assert Client().post("/sign-in/", GOOD).status_code == 302


def test_signing_out_needs_a_post() -> None:
    client = Client()
    client.post("/sign-in/", GOOD)
    assert client.get("/sign-out/").status_code == 405
    client.post("/sign-out/")
    assert client.get("/settings/").status_code == 302


def test_a_post_without_the_pages_token_is_refused() -> None:
    answer = Client(enforce_csrf_checks=True).post("/sign-in/", GOOD)
    assert answer.status_code == 403
    assert b"ROCKETSCOPE_TRUSTED_ORIGINS" in answer.content
