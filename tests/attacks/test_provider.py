"""Tokens and answers of an OpenID Connect provider that must let nobody in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from joserfc.jwk import RSAKey

from dashboard.accounts.outside import GroupRight, Provider
from dashboard.models import AuditEntry, Identity, Role, Session, User
from tests.attacks.test_redirects import AWAY
from tests.support.loopback_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    RETURN,
    LoopbackProvider,
    loopback_provider,
    shared_secret,
)

Spoil = Callable[[LoopbackProvider], object]


@pytest.fixture
def provider(db: None, settings: Any) -> Iterator[LoopbackProvider]:
    cache.clear()
    with loopback_provider() as made:
        settings.ROCKETSCOPE_OIDC = Provider(
            made.issuer, CLIENT_ID, CLIENT_SECRET, "Example"
        )
        settings.ROCKETSCOPE_SIGN_IN_GROUPS = (GroupRight("admins", "admin"),)
        yield made


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def claims(**wrong: Any) -> Spoil:
    return lambda provider: provider.claims.update(wrong)


def key(**wrong: Any) -> Spoil:
    def spoil(provider: LoopbackProvider) -> None:
        for name, value in wrong.items():
            setattr(provider, name, value)

    return spoil


BAD: dict[str, Spoil] = {
    "another audience": claims(aud="other"),
    "an audience beside ours, for another party": claims(
        aud=[CLIENT_ID, "other"], azp="other"
    ),
    "another audience, although we are the party": claims(aud="other", azp=CLIENT_ID),
    "no audience": claims(aud=None),
    "another nonce": claims(nonce="x"),
    "no nonce": claims(nonce=None),
    "another issuer": claims(iss="https://evil.example"),
    "expired": claims(exp=int(time.time()) - 3600),
    "from the future": claims(iat=int(time.time()) + 36_000),
    "not valid yet": claims(nbf=int(time.time()) + 36_000),
    "no subject": claims(sub=None),
    "an empty subject": claims(sub=""),
    "a number for a subject": claims(sub=7),
    "a subject with control characters": claims(sub="a\0b"),
    "a subject beyond the limit": claims(sub="x" * 256),
    "without a signature": key(header={"alg": "none"}),
    "an unknown key": key(
        header={"alg": "RS256", "kid": "2"},
        signed_with=RSAKey.generate_key(2048, {"kid": "2"}),
    ),
    "another key under a known name": key(
        signed_with=RSAKey.generate_key(2048, {"kid": "1"})
    ),
    "signed with the shared secret": key(
        header={"alg": "HS256", "kid": "1"}, signed_with=shared_secret()
    ),
}


@pytest.mark.parametrize("spoil", BAD.values(), ids=BAD)
def test_a_bad_token_lets_nobody_in(provider: LoopbackProvider, spoil: Spoil) -> None:
    spoil(provider)
    client = Client()
    answer = provider.sign_in(client)
    assert answer.status_code == 403
    assert b"does not show who you are" in answer.content
    assert not is_in(client)
    assert not User.objects.exists()
    refused = AuditEntry.objects.get(action="sign_in")
    assert refused.outcome == AuditEntry.Outcome.REFUSED


def test_the_same_token_unspoilt_does(provider: LoopbackProvider) -> None:
    client = Client()
    assert provider.sign_in(client).status_code == 302
    assert is_in(client)


@pytest.mark.parametrize("state", ["", "x", "\u20ac"])
def test_another_state_lets_nobody_in(provider: LoopbackProvider, state: str) -> None:
    client = Client()
    assert provider.sign_in(client, state=state).status_code == 403
    assert not is_in(client)
    assert "/token" not in provider.requests


def test_a_code_that_somebody_else_asked_for_lets_nobody_in(
    provider: LoopbackProvider,
) -> None:
    """Otherwise a link could sign people in as whoever made it."""
    asked = provider.start(Client())
    victim = Client()
    query = {"code": "c", "state": asked["state"]}
    assert victim.get(RETURN, query).status_code == 403
    provider.start(victim)
    assert victim.get(RETURN, query).status_code == 403
    assert not is_in(victim)
    assert not Session.objects.exists()


def test_coming_back_a_second_time_lets_nobody_in(provider: LoopbackProvider) -> None:
    client = Client()
    asked = provider.start(client)
    query = {"code": "c", "state": asked["state"]}
    assert client.get(RETURN, query).status_code == 302
    client.post("/sign-out/")
    assert client.get(RETURN, query).status_code == 403
    assert not is_in(client)


def test_a_changed_cookie_lets_nobody_in(provider: LoopbackProvider) -> None:
    client = Client()
    asked = provider.start(client)
    kept = client.cookies["rocketscope_leaving"]
    assert kept["httponly"]
    kept.set(kept.key, kept.value[:-1] + "x", kept.value[:-1] + "x")
    query = {"code": "c", "state": asked["state"]}
    assert client.get(RETURN, query).status_code == 403


def test_strangers_fill_no_table(provider: LoopbackProvider) -> None:
    for _ in range(3):
        provider.start(Client())
        assert Client().get(RETURN).status_code == 403
    assert not Session.objects.exists()
    assert not AuditEntry.objects.exists()


def test_nobody_takes_over_an_account_by_its_name_or_address(
    provider: LoopbackProvider,
) -> None:
    own = User.objects.create_user(
        "olga", "olga@example.com", "correct horse battery", role=Role.VIEWER
    )
    provider.claims.update(email="olga@example.com", email_verified=True)
    client = Client()
    provider.sign_in(client)
    user = Identity.objects.get().user
    assert user.pk != own.pk
    assert user.get_username() == "olga-2"
    own.refresh_from_db()
    assert own.role == Role.VIEWER


@pytest.mark.parametrize("name", ["admin", "Admin", "ａｄｍｉｎ", "rocketscope"])
def test_nobody_is_called_what_the_program_or_its_first_admin_is(
    provider: LoopbackProvider, name: str
) -> None:
    provider.claims["preferred_username"] = name
    provider.sign_in(Client())
    assert User.objects.get().get_username().endswith("-2")


def test_two_subjects_of_one_name_are_two_users(provider: LoopbackProvider) -> None:
    for subject in ("a", "A"):
        provider.claims["sub"] = subject
        provider.sign_in(Client())
    assert {user.get_username() for user in User.objects.all()} == {"olga", "olga-2"}


def test_user_info_about_somebody_else_lets_nobody_in(
    provider: LoopbackProvider,
) -> None:
    provider.claims["groups"] = None
    provider.user_info = {"sub": "subject-2", "groups": ["admins"]}
    assert provider.sign_in(Client()).status_code == 403
    assert not User.objects.exists()


def test_nobody_is_led_away(provider: LoopbackProvider) -> None:
    for away in AWAY:
        assert provider.sign_in(Client(), away)["Location"] == "/", away


def test_a_provider_that_says_it_is_another_is_not_believed(
    provider: LoopbackProvider,
) -> None:
    provider.metadata["issuer"] = "https://evil.example"
    assert Client().get("/sign-in/provider/").status_code == 502


def test_whoever_lost_their_groups_has_nothing_left(
    provider: LoopbackProvider,
) -> None:
    """No session in another browser, and no role for tokens made before."""
    before, after = Client(), Client()
    provider.sign_in(before)
    assert is_in(before)
    provider.claims["groups"] = ["others"]
    assert provider.sign_in(after).status_code == 403
    assert not is_in(after)
    assert not is_in(before)
    assert User.objects.get().role == ""


def test_whoever_is_disabled_here_is_refused(provider: LoopbackProvider) -> None:
    client = Client()
    provider.sign_in(client)
    User.objects.update(is_active=False)
    assert not is_in(client)
    assert provider.sign_in(client).status_code == 403
    assert not User.objects.get().is_active


def test_whom_the_provider_signs_in_cannot_set_a_password(
    provider: LoopbackProvider,
) -> None:
    """With one they could come in after the provider has shut them out."""
    client = Client()
    provider.sign_in(client)
    new = {"new_password1": "correct horse battery"}
    new["new_password2"] = new["new_password1"]
    assert client.post("/account/", new).status_code == 403
    assert not User.objects.get().has_usable_password()


def test_no_link_is_made_for_whom_the_provider_signs_in(
    provider: LoopbackProvider,
) -> None:
    client = Client()
    provider.sign_in(client)
    user = User.objects.get()
    answer = client.post(f"/account/users/{user.pk}/link/")
    assert answer.status_code == 403
