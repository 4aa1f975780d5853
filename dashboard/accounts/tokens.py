"""Tokens for programs: made and shown once, found by their digest, revoked."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.models import Cluster, Role, Token, User
from dashboard.models.audit import record

MARK: Final = "rs_"
"""How every secret begins, so that scanners of code and logs can find one."""
SHOWN_CHARS: Final = len(MARK) + 6
MOST_TOKENS: Final = 100
"""Of one user, those that can still be used."""
MOST_DAYS: Final = 730
KEPT_ENDED: Final = timedelta(days=90)
"""How long a token is still listed after its end; the audit trail keeps it longer."""
LONGEST_NAME: Final = 60
NOTED_EVERY: Final = timedelta(minutes=1)


class TokenRefusedError(Exception):
    """A token that cannot be made; the message names the value and the limit."""


@transaction.atomic
def make_token(
    user: User,
    *,
    name: str,
    role: Role,
    clusters: Sequence[str] = (),
    days: int | None,
    by: User | None,
) -> tuple[Token, str]:
    """Make a token that acts for a user; return it and its secret, kept nowhere.

    It never allows more than its user is allowed at the time of a call. Without `days`
    it does not expire. Raise TokenRefusedError for values that make no sense.
    """
    name = name.strip()
    if not 1 <= len(name) <= LONGEST_NAME:
        raise TokenRefusedError(
            _("A name has 1 to %(limit)s characters, this one has %(length)s.")
            % {"limit": LONGEST_NAME, "length": len(name)}
        )
    if days is not None and not 1 <= days <= MOST_DAYS:
        raise TokenRefusedError(
            _("A token lasts 1 to %(limit)s days, not %(days)s.")
            % {"limit": MOST_DAYS, "days": days}
        )
    if not user.allows_somewhere(role):
        raise TokenRefusedError(
            _("%(user)s does not have the role “%(role)s” anywhere.")
            % {"user": user.get_username(), "role": role.label}
        )
    seen = Cluster.objects.filter(configured=True).seen_by(user)
    for cluster in clusters:
        if not seen.filter(name=cluster).exists():
            raise TokenRefusedError(
                _("%(user)s cannot see a cluster “%(cluster)s”.")
                % {"user": user.get_username(), "cluster": cluster[:60]}
            )
    now = timezone.now()
    # Held until the end, so that two requests do not both take the last place.
    User.objects.select_for_update().get(pk=user.pk)
    long_ended = Q(revoked_at__lt=now - KEPT_ENDED) | Q(expires_at__lt=now - KEPT_ENDED)
    Token.objects.filter(long_ended, user=user).delete()
    if Token.objects.alive(now).filter(user=user).count() >= MOST_TOKENS:
        raise TokenRefusedError(
            _("%(user)s already has %(limit)s tokens, which is the limit.")
            % {"user": user.get_username(), "limit": MOST_TOKENS}
        )
    secret = MARK + secrets.token_urlsafe(32)
    token = Token.objects.create(
        user=user,
        name=name,
        prefix=secret[:SHOWN_CHARS],
        digest=digest_of(secret),
        role=role,
        clusters=list(dict.fromkeys(clusters)),
        expires_at=None if days is None else now + timedelta(days=days),
        made_by_name=by.get_username() if by else "",
    )
    details = {
        "token": token.prefix,
        "role": token.role,
        "clusters": token.clusters,
        "days": days,
    }
    record(by, "token.make", target=_target(token), details=details)
    return token, secret


@transaction.atomic
def revoke_token(token: Token, *, by: User | None) -> None:
    """End a token at once; one that has ended stays as it is."""
    now = timezone.now()
    if Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now):
        details = {"token": token.prefix}
        record(by, "token.revoke", target=_target(token), details=details)


def use_token(secret: str, now: datetime) -> User | None:
    """Return the user for whom a secret acts, limited to its token; None for no one."""
    if not secret.startswith(MARK):
        return None
    found = Token.objects.alive(now).filter(digest=digest_of(secret))
    token = found.select_related("user").first()
    if token is None:
        return None
    stale = Q(used_at=None) | Q(used_at__lt=now - NOTED_EVERY)
    if token.used_at is None or token.used_at < now - NOTED_EVERY:
        Token.objects.filter(stale, pk=token.pk).update(used_at=now)
    user = token.user
    user.limit = token
    return user


def tokens_of(user: User) -> list[Token]:
    """Return a user's tokens, newest first, those that have ended included."""
    return list(Token.objects.filter(user=user))


def digest_of(secret: str) -> str:
    """Return what is kept of a secret: it is random, so a plain hash is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _target(token: Token) -> str:
    return f"{token.user.get_username()}: {token.name}"
