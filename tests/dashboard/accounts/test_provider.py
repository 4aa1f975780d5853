"""Signing in at an OpenID Connect provider, as the provider and its groups have it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import StringIO
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from joserfc.jwk import RSAKey

from dashboard.accounts import provider as provider_module
from dashboard.accounts.outside import GroupRight, Provider
from dashboard.models import AuditEntry, Role, Session, User
from tests.support.loopback_provider import (
    CLIENT_ID,
    CLIENT_SECRET,
    LoopbackProvider,
    loopback_provider,
)

RIGHTS = (
    GroupRight("admins", "admin"),
    GroupRight("staff", "viewer"),
    GroupRight("payments", "operator", "hangzhou", "payments-*"),
    GroupRight("payments", "viewer", "beijing"),
    GroupRight("beijing", "admin", "beijing"),
)


@pytest.fixture
def provider(db: None, settings: Any) -> Iterator[LoopbackProvider]:
    cache.clear()
    with loopback_provider() as made:
        settings.ROCKETSCOPE_OIDC = Provider(
            made.issuer, CLIENT_ID, CLIENT_SECRET, "Example ID"
        )
        settings.ROCKETSCOPE_SIGN_IN_GROUPS = RIGHTS
        yield made


def olga() -> User:
    return User.objects.get(username="olga")


def rights() -> tuple[str, list[str]]:
    user = olga()
    return user.role, [str(each) for each in user.grants.all()]


def test_the_sign_in_page_offers_it_and_keeps_where_to_go(
    provider: LoopbackProvider,
) -> None:
    page = Client().get("/sign-in/", {"next": "/timers/?a=1&b=2"}).content.decode()
    assert "Sign in with Example ID" in page
    address = re.search(r'href="(/sign-in/provider/[^"]*)"', page)
    assert address is not None
    assert address[1] == "/sign-in/provider/?next=%2Ftimers%2F%3Fa%3D1%26b%3D2"
    assert "https://evil" not in (
        Client().get("/sign-in/", {"next": "https://evil.example/"}).content.decode()
    )


def test_without_a_provider_there_is_none(db: None) -> None:
    assert b"provider" not in Client().get("/sign-in/").content
    for address in ("/sign-in/provider/", "/sign-in/provider/return/"):
        assert Client().get(address).status_code == 404


def test_it_is_asked_with_state_nonce_and_a_challenge(
    provider: LoopbackProvider,
) -> None:
    asked = provider.start(Client())
    assert asked["code_challenge_method"] == "S256"
    assert len(asked["state"]) >= 20
    assert len(asked["nonce"]) >= 20
    assert asked["scope"] == "openid profile email"
    assert asked["redirect_uri"] == "http://testserver/sign-in/provider/return/"


def test_a_first_sign_in_makes_a_user_who_is_found_again(
    provider: LoopbackProvider,
) -> None:
    client = Client()
    assert provider.sign_in(client, "/timers/")["Location"] == "/timers/"
    made = olga()
    assert not made.has_usable_password()
    provider.claims["preferred_username"] = "olga.new"
    provider.sign_in(Client())
    assert User.objects.get() == made


@pytest.mark.parametrize(
    ("groups", "role", "grants"),
    [
        (["admins", "staff"], Role.ADMIN, []),
        (["staff"], Role.VIEWER, []),
        ("staff", Role.VIEWER, []),
        (
            ["payments"],
            "",
            ["viewer on beijing", "operator on hangzhou, groups payments-*"],
        ),
        (
            ["payments", "beijing", "Admins", 7, None],
            "",
            ["admin on beijing", "operator on hangzhou, groups payments-*"],
        ),
    ],
)
def test_groups_give_the_highest_role_for_each_place(
    provider: LoopbackProvider, groups: Any, role: str, grants: list[str]
) -> None:
    provider.claims["groups"] = groups
    assert provider.sign_in(Client()).status_code == 302
    assert rights() == (role, grants)


def test_each_sign_in_replaces_the_rights_and_is_audited(
    provider: LoopbackProvider,
) -> None:
    provider.claims["groups"] = ["payments"]
    provider.sign_in(Client())
    olga().grants.create(cluster="shanghai", role=Role.ADMIN)
    AuditEntry.objects.all().delete()
    provider.claims["groups"] = ["staff", "beijing"]
    provider.sign_in(Client())
    assert rights() == (Role.VIEWER, ["admin on beijing"])
    said = {(e.actor_name, e.action, e.cluster) for e in AuditEntry.objects.all()}
    assert said == {
        ("rocketscope", "user.change", ""),
        ("rocketscope", "grant.give", "beijing"),
        ("rocketscope", "grant.take", "hangzhou"),
        ("rocketscope", "grant.take", "shanghai"),
        ("olga", "sign_in", ""),
    }
    entry = AuditEntry.objects.get(action="sign_in")
    assert entry.details == {"issuer": provider.issuer}
    AuditEntry.objects.all().delete()
    provider.sign_in(Client())
    assert [e.action for e in AuditEntry.objects.all()] == ["sign_in"]


@pytest.mark.parametrize("groups", [["others"], [], None, {"admins": True}, 7])
def test_without_a_group_that_has_a_right_nobody_gets_in(
    provider: LoopbackProvider, groups: Any
) -> None:
    provider.claims["groups"] = groups
    client = Client()
    answer = provider.sign_in(client)
    assert answer.status_code == 403
    assert "none of your groups has a right" in answer.content.decode()
    assert not User.objects.exists()
    assert not Session.objects.exists()
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.outcome, entry.target) == ("sign_in", "refused", "olga")


def test_groups_may_be_inside_another_claim_or_in_the_user_info(
    provider: LoopbackProvider, settings: Any
) -> None:
    settings.ROCKETSCOPE_OIDC = Provider(
        provider.issuer, CLIENT_ID, CLIENT_SECRET, "X", groups_claim="realm.roles"
    )
    provider.claims.update(groups=None, realm={"roles": ["staff"]})
    assert provider.sign_in(Client()).status_code == 302
    assert "/userinfo" not in provider.requests
    del provider.claims["realm"]
    provider.user_info = {"sub": "subject-1", "realm.roles": ["admins"]}
    assert provider.sign_in(Client()).status_code == 302
    assert olga().role == Role.ADMIN


def test_a_key_that_is_new_is_fetched(provider: LoopbackProvider) -> None:
    provider.sign_in(Client())
    provider.key = provider.signed_with = RSAKey.generate_key(2048, {"kid": "2"})
    provider.header["kid"] = "2"
    assert provider.sign_in(Client()).status_code == 302


def test_its_addresses_are_asked_for_once_an_hour(
    provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        provider.start(Client())
    assert provider.requests == ["/.well-known/openid-configuration"]
    monkeypatch.setattr(provider_module, "KNOWN_SECONDS", -1.0)
    provider.start(Client())
    assert len(provider.requests) == 2


@pytest.mark.parametrize(
    "path", ["/.well-known/openid-configuration", "/token", "/keys"]
)
def test_a_provider_that_fails_is_named_and_nobody_is_in(
    provider: LoopbackProvider, path: str
) -> None:
    provider.status[path] = 503
    client = Client()
    if path in {"/token", "/keys"}:
        answer = provider.sign_in(client)
    else:
        answer = client.get("/sign-in/provider/")
    assert answer.status_code == 502
    assert "Example ID does not answer" in answer.content.decode()
    assert client.get("/account/").status_code == 302
    assert not User.objects.exists()


@pytest.mark.parametrize(
    "metadata",
    [
        {"authorization_endpoint": None},
        {"issuer": None},
    ],
)
def test_metadata_that_make_no_sense_are_no_error_of_ours(
    provider: LoopbackProvider, metadata: dict[str, Any]
) -> None:
    provider.metadata = metadata
    assert Client().get("/sign-in/provider/").status_code == 502


def test_nobody_there(db: None, settings: Any) -> None:
    settings.ROCKETSCOPE_OIDC = Provider("http://127.0.0.1:9", "a", "b", "Gone")
    assert Client().get("/sign-in/provider/").status_code == 502


def test_a_provider_that_never_answers_is_not_waited_for(
    provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sum(provider_module.TIMEOUT_SECONDS) < 10
    monkeypatch.setattr(provider_module, "TIMEOUT_SECONDS", (5.0, 0.05))
    provider.answers.clear()
    assert Client().get("/sign-in/provider/").status_code == 502


def test_more_browsers_than_places_are_told_at_once(
    provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        provider_module, "_places", provider_module.threading.BoundedSemaphore(1)
    )
    with provider_module._conversation():
        assert Client().get("/sign-in/provider/").status_code == 502
    assert Client().get("/sign-in/provider/").status_code == 302


def test_signing_out_ends_both_sessions(provider: LoopbackProvider) -> None:
    client = Client()
    provider.sign_in(client)
    answer = client.post("/sign-out/")
    assert answer.status_code == 200
    assert client.get("/account/").status_code == 302
    page = answer.content.decode()
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', page)
    assert found is not None
    address = urlsplit(found[1].replace("&amp;", "&"))
    query = dict(parse_qsl(address.query))
    assert address.path == "/end"
    assert query["post_logout_redirect_uri"] == "http://testserver/sign-in/"
    assert query["client_id"] == CLIENT_ID
    assert query["id_token_hint"].count(".") == 2


def test_a_provider_without_an_end_of_sessions_ends_ours(
    provider: LoopbackProvider,
) -> None:
    provider.metadata["end_session_endpoint"] = None
    client = Client()
    provider.sign_in(client)
    assert client.post("/sign-out/")["Location"] == "/sign-in/"
    assert client.get("/account/").status_code == 302


def test_signing_out_works_while_the_provider_is_away(
    provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client()
    provider.sign_in(client)
    monkeypatch.setattr(provider_module, "KNOWN_SECONDS", -1.0)
    provider.status["/.well-known/openid-configuration"] = 500
    answer = client.post("/sign-out/")
    assert "your session there goes on" in answer.content.decode()
    assert client.get("/account/").status_code == 302


def test_a_password_session_ends_without_the_provider(
    provider: LoopbackProvider,
) -> None:
    client = Client()
    client.force_login(User.objects.create_user("vera"))
    assert client.post("/sign-out/")["Location"] == "/sign-in/"
    assert provider.requests == []


def test_pages_say_where_rights_come_from(provider: LoopbackProvider) -> None:
    client = Client()
    provider.sign_in(client)
    account = client.get("/account/").content.decode()
    assert f"You sign in at {provider.issuer}" in account
    assert 'type="password"' not in account
    assert "rights by groups" in client.get("/account/users/").content.decode()
    page = client.get(f"/account/users/{olga().pk}/rights/").content.decode()
    assert "counts until the next sign-in" in page


def test_the_link_of_the_command_line_is_for_an_admin_of_our_own(
    provider: LoopbackProvider,
) -> None:
    provider.sign_in(Client())
    assert olga().role == Role.ADMIN
    out = StringIO()
    call_command("sign_in_link", stdout=out)
    assert User.objects.get(username="admin").role == Role.ADMIN
    with pytest.raises(CommandError, match="signs in at"):
        call_command("sign_in_link", user="olga", stdout=out)
