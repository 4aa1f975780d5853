from __future__ import annotations

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client

from dashboard.models import Role
from tests.dashboard.conftest import SignIn
from tests.support.hashing import COST_IN_THE_PROGRAM


def test_no_migration_is_missing(db: None) -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def test_the_project_passes_djangos_own_checks() -> None:
    call_command("check", verbosity=0)


@pytest.mark.parametrize("address", ["/sign-in/", "/settings/"])
def test_every_answer_carries_the_content_security_policy(
    sign_in: SignIn, address: str
) -> None:
    policy = sign_in(Role.VIEWER).get(address)["Content-Security-Policy"]
    rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == "'self'"
    assert rules["frame-ancestors"] == rules["base-uri"] == "'none'"
    assert "unsafe" not in policy


def test_answers_carry_the_other_safe_headers(db: None) -> None:
    answer = Client().get("/sign-in/")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"


def test_a_foreign_host_name_is_refused(db: None) -> None:
    assert (
        Client().get("/sign-in/", headers={"host": "evil.example"}).status_code == 400
    )


def test_passwords_are_kept_with_argon2(db: None) -> None:
    from dashboard.models import User

    user = User.objects.create_user("vera", password="correct horse battery")
    assert user.password.startswith("argon2")


def test_a_password_costs_whoever_guesses_100_mib() -> None:
    rounds, kib, _threads = COST_IN_THE_PROGRAM
    assert (rounds, kib) == (2, 100 * 1024)


def test_cookies_are_not_given_to_other_sites(db: None) -> None:
    assert settings.SESSION_COOKIE_HTTPONLY
    assert settings.SESSION_COOKIE_SAMESITE == settings.CSRF_COOKIE_SAMESITE == "Lax"
