"""One-time sign-in links: made on the command line or by an admin, used once.

A link carries 32 random bytes, signed together with the user's id; the database keeps
only their digest. Using a link is one conditional UPDATE, so that exactly one of two
browsers that open it at the same moment gets in.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import QuerySet

from dashboard.models import Role, SignInLink, User
from dashboard.models.audit import USE_LINK, record

SALT: Final = "rocketscope.sign-in-link"
FIRST_USER: Final = "admin"


class SignInLinkError(Exception):
    """A link that lets nobody in: it is wrong, too old or used, or its user is gone.

    `username` is the user for whom it was made, or empty if it was not made here.
    """

    def __init__(self, message: str, username: str = "") -> None:
        super().__init__(message)
        self.username = username


def make_sign_in_token(
    user: User, now: datetime, *, made_by: User | None = None
) -> str:
    """Make a link's token for `user`, valid from `now` for fifteen minutes."""
    secret = secrets.token_urlsafe(32)
    with transaction.atomic():
        SignInLink.objects.filter(expires_at__lt=now - timedelta(days=1)).delete()
        SignInLink.objects.create(
            user=user,
            digest=_digest(secret),
            expires_at=now + lifetime(),
        )
        record(made_by, "sign_in_link.make", target=user.get_username())
    return signing.dumps([user.pk, secret], salt=SALT)


def use_sign_in_token(token: str, now: datetime, address: str = "") -> User:
    """Spend a token, from an address, and return its user.

    Raises SignInLinkError when it was not made here, is older than fifteen minutes,
    was used before, or its user has been switched off.
    """
    user = owner_of_token(token, now)
    if _usable_links(token, now).update(used_at=now) != 1:
        raise _too_late(token)
    record(user, USE_LINK, target=user.get_username(), address=address)
    return user


def owner_of_token(token: str, now: datetime) -> User:
    """Return whom a token would let in, without spending it.

    Raises SignInLinkError as `use_sign_in_token` does.
    """
    link = _usable_links(token, now).select_related("user").first()
    if link is None:
        raise _too_late(token)
    return link.user


def _too_late(token: str) -> SignInLinkError:
    user_id, _secret = _read(token)
    names = User.objects.filter(pk=user_id).values_list("username", flat=True)
    return SignInLinkError(
        "the link was used before or is too old", names.first() or ""
    )


def _read(token: str) -> tuple[int, str]:
    try:
        user_id, secret = signing.loads(token, salt=SALT)
    except (signing.BadSignature, ValueError, TypeError):
        raise SignInLinkError("the link was not made by this RocketScope") from None
    return user_id, str(secret)


def _usable_links(token: str, now: datetime) -> QuerySet[SignInLink]:
    user_id, secret = _read(token)
    return SignInLink.objects.filter(
        user_id=user_id,
        digest=_digest(secret),
        used_at__isnull=True,
        expires_at__gt=now,
        user__is_active=True,
    )


def first_user() -> User:
    """Return the first admin of our own, making one where there is none.

    Whoever signs in elsewhere may lose their rights there.
    """
    admins = User.objects.filter(role=Role.ADMIN, is_active=True, identity=None)
    if admin := admins.order_by("pk").first():
        return admin
    with transaction.atomic():
        user, made = User.objects.get_or_create(
            username=FIRST_USER, defaults={"role": Role.ADMIN, "password": "!"}
        )
        if made:
            user.set_unusable_password()
            user.save(update_fields=["password"])
            record(None, "user.add", target=FIRST_USER, details={"role": Role.ADMIN})
    return user


def lifetime() -> timedelta:
    return timedelta(minutes=settings.ROCKETSCOPE_SIGN_IN_LINK_MINUTES)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
