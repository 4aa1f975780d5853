"""Tokens: what they allow, when they end, and how they are made and shown."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from dashboard.accounts import tokens
from dashboard.accounts.tokens import TokenRefusedError, make_token, revoke_token
from dashboard.models import NO_ROLE, AuditEntry, Cluster, Role, Token, User
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview

pytestmark = pytest.mark.django_db

BASE = "/api/v1/clusters"


@pytest.fixture(autouse=True)
def two_clusters(write: Write) -> None:
    cache.clear()
    Cluster.objects.create(name="west")
    write(overview())


@pytest.fixture
def olga() -> User:
    return User.objects.create_user("olga", role=Role.OPERATOR)


def made(user: User, **wish: Any) -> tuple[Token, str]:
    given: dict[str, Any] = {"name": "ci", "role": Role.OPERATOR, "days": 7, **wish}
    return make_token(user, **given, by=user)


def call(secret: str, path: str = BASE, **kw: Any) -> Any:
    return Client().get(path, headers={"Authorization": f"Bearer {secret}"}, **kw)


def test_a_token_reads_and_is_noted(olga: User) -> None:
    token, secret = made(olga)
    answer = call(secret)
    assert answer.status_code == 200
    assert {row["name"] for row in answer.json()} == {"hangzhou", "west"}
    token.refresh_from_db()
    assert token.used_at is not None
    assert secret not in str(Token.objects.values())
    assert secret.startswith(token.prefix)


def test_a_token_needs_no_csrf_and_writes_under_its_name(olga: User) -> None:
    _token, secret = made(olga)
    wish = {"name": "daily", "cluster": "hangzhou", "period": "day"}
    answer = Client(enforce_csrf_checks=True).post(
        "/api/v1/reports/definitions",
        wish,
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert answer.status_code in (201, 422), answer.content
    entry = AuditEntry.objects.filter(action="report.define").first()
    if answer.status_code == 201:
        assert entry is not None
        assert entry.details["by_token"] == secret[: tokens.SHOWN_CHARS]


@pytest.mark.parametrize("secret", ["", "x", "rs_", "rs_x", "rs_" + "x" * 10_000])
def test_what_is_no_token_lets_nobody_in(secret: str, sign_in: SignIn) -> None:
    client = sign_in(Role.ADMIN)
    # A browser's session does not make up for it.
    answer = client.get(BASE, headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 401
    assert "token" in answer.json()["detail"]


def test_a_token_ends_with_its_time_its_revocation_and_its_user(olga: User) -> None:
    late, late_secret = made(olga, days=1)
    Token.objects.filter(pk=late.pk).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )
    revoked, revoked_secret = made(olga)
    revoke_token(revoked, by=olga)
    _other, secret = made(olga, days=None)
    assert call(late_secret).status_code == 401
    assert call(revoked_secret).status_code == 401
    assert call(secret).status_code == 200
    User.objects.update(is_active=False)
    assert call(secret).status_code == 401


def test_a_token_is_refused_outside_of_its_clusters(olga: User) -> None:
    _token, secret = made(olga, clusters=["west"])
    assert [row["name"] for row in call(secret).json()] == ["west"]
    answer = call(secret, f"{BASE}/hangzhou/overview")
    assert answer.status_code == 403
    assert "olga" in answer.json()["detail"]


def test_a_token_allows_no_more_than_its_own_role(olga: User) -> None:
    _token, secret = made(olga, role=Role.VIEWER)
    answer = Client().post(
        f"{BASE}/hangzhou/groups/billing/members",
        {"action": "add"},
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert answer.status_code == 403
    assert "this needs operator" in answer.json()["detail"]


def test_a_token_allows_no_more_than_its_user_may_now(olga: User) -> None:
    _token, secret = made(olga)
    User.objects.update(role=NO_ROLE)
    assert call(secret).status_code == 403
    olga.grants.create(role=Role.VIEWER, cluster="west")
    assert [row["name"] for row in call(secret).json()] == ["west"]


def test_too_many_calls_are_told_when_to_try_again(olga: User, settings: Any) -> None:
    settings.ROCKETSCOPE_TOKEN_CALLS = 3
    _token, secret = made(olga)
    codes = [call(secret).status_code for _ in range(8)]
    # The minute may turn meanwhile.
    assert codes.count(429) >= 2
    assert codes[:3] == [200, 200, 200]
    answer = next(found for _ in range(9) if (found := call(secret)).status_code == 429)
    assert 1 <= int(answer["Retry-After"]) <= 60
    assert "3 calls" in answer.json()["detail"]
    _other, other = made(olga)
    assert call(other).status_code == 200


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        ({"name": " "}, "1 to 60 characters"),
        ({"name": "x" * 61}, "this one has 61"),
        ({"days": 0}, "1 to 730 days, not 0"),
        ({"role": Role.ADMIN}, "does not have the role"),
        ({"clusters": ["north"]}, "cannot see a cluster “north”"),
    ],
)
def test_what_makes_no_sense_is_refused(
    olga: User, wish: dict[str, Any], told: str
) -> None:
    with pytest.raises(TokenRefusedError, match=told):
        made(olga, **wish)
    assert not Token.objects.exists()


def test_a_user_has_so_many_tokens(olga: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_TOKENS", 2)
    one, _secret = made(olga)
    made(olga)
    with pytest.raises(TokenRefusedError, match="already has 2 tokens"):
        made(olga)
    revoke_token(one, by=olga)
    made(olga)


def test_making_and_revoking_are_in_the_audit_without_the_secret(olga: User) -> None:
    token, secret = made(olga, clusters=["west"])
    revoke_token(token, by=olga)
    revoke_token(token, by=olga)
    entries = list(AuditEntry.objects.order_by("pk"))
    assert [each.action for each in entries] == ["token.make", "token.revoke"]
    assert entries[0].target == "olga: ci"
    assert entries[0].details["clusters"] == ["west"]
    assert secret not in str([each.details for each in entries])


def test_the_page_shows_the_secret_once(sign_in: SignIn) -> None:
    client = sign_in(Role.OPERATOR)
    page = "/account/tokens/"
    answer = client.post(page, {"name": "ci", "role": "viewer", "days": "7"})
    secret = answer.context["secret"]
    assert secret in answer.content.decode()
    assert call(secret).status_code == 200
    shown = client.get(page).content.decode()
    assert secret not in shown
    token = Token.objects.get()
    assert token.prefix in shown
    assert "admin" not in answer.context["form"].fields["role"].widget.choices
    wrong = client.post(page, {"name": "", "role": "admin", "days": "3"})
    assert wrong.status_code == 422
    assert client.post(page, {"revoke": "9" * 40}).status_code == 404
    assert client.post(page, {"revoke": token.pk}).status_code == 302
    assert "revoked" in client.get(page).content.decode()


def test_nobody_revokes_what_belongs_to_others(sign_in: SignIn, olga: User) -> None:
    token, secret = made(olga)
    answer = sign_in(Role.VIEWER).post("/account/tokens/", {"revoke": token.pk})
    assert answer.status_code == 404
    assert call(secret).status_code == 200
    page = f"/account/users/{olga.pk}/tokens/"
    assert sign_in(Role.ADMIN).post(page, {"revoke": token.pk}).status_code == 302
    assert call(secret).status_code == 401


def test_the_command_prints_a_token_for_a_service() -> None:
    out = StringIO()
    call_command(
        "make_token",
        *("deploys", "--user", "robot", "--add-user", "--role", "operator"),
        *("--cluster", "west", "--days", "30"),
        stdout=out,
    )
    secret = out.getvalue().strip()
    assert [row["name"] for row in call(secret).json()] == ["west"]
    token = Token.objects.get()
    assert (token.user.username, token.role) == ("robot", "operator")
    assert not token.user.has_usable_password()


def test_the_command_says_what_is_wrong() -> None:
    with pytest.raises(CommandError, match="no user called 'robot'"):
        call_command("make_token", "ci", "--user", "robot")
    User.objects.create_user("robot", role=Role.VIEWER)
    with pytest.raises(CommandError, match="does not have the role"):
        call_command("make_token", "ci", "--user", "robot", "--role", "admin")


def test_tokens_that_ended_long_ago_are_forgotten(olga: User) -> None:
    old, recent, alive = (made(olga, name=name)[0] for name in ("old", "new", "alive"))
    now = timezone.now()
    Token.objects.filter(pk=old.pk).update(revoked_at=now - timedelta(days=91))
    Token.objects.filter(pk=recent.pk).update(expires_at=now - timedelta(days=89))
    made(olga, name="another")
    left = set(Token.objects.values_list("pk", flat=True))
    assert old.pk not in left
    assert {recent.pk, alive.pk} < left
