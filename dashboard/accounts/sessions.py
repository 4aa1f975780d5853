"""Django's session store in our own table, which has digests of keys, not the keys.

Whoever reads the database or a backup of it finds no key to sign in with. Keys are 32
random characters, so one round of SHA-256 is enough: they cannot be guessed. Each row
also tells whose session it is, since when and from where, and when it was last used.
"""

from __future__ import annotations

import hashlib
import logging
from datetime import datetime, timedelta
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.db import DatabaseError, transaction
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from dashboard.models import Session, User
from dashboard.models.audit import record
from dashboard.models.session import MOST_BROWSER_CHARS, Sessions

logger = logging.getLogger(__name__)

MOST_PER_USER: Final = 100
"""Sessions of one user; another sign-in ends the one that was unused for longest."""
SEEN_EVERY: Final = timedelta(minutes=1)
"""The precision with which the time of last use is kept."""
_SIGN_IN: Final = "sign_in"


def digest_of(session_key: str) -> str:
    """Return the digest under which the database keeps a browser's key."""
    return hashlib.sha256(session_key.encode()).hexdigest()


class SessionStore(DatabaseStore):
    """Sessions under the digests of their keys.

    What was noted at sign-in is part of the session's data, from which the columns are
    filled each time the row is written as a whole.
    """

    @classmethod
    def get_model_class(cls) -> type[Session]:  # type: ignore[override]
        return Session

    def _get_session_from_db(self) -> Session | None:
        now = timezone.now()
        key = digest_of(self.session_key or "")
        found = Session.objects.alive(now).filter(pk=key).first()
        if found is None:
            self._session_key = None
        else:
            note_use({found.pk}, now, last=found.last_seen_at)
        return found

    async def _aget_session_from_db(self) -> Session | None:
        return await sync_to_async(self._get_session_from_db)()

    def exists(self, session_key: str) -> bool:
        return super().exists(digest_of(session_key))

    async def aexists(self, session_key: str) -> bool:
        return await super().aexists(digest_of(session_key))

    def create_model_instance(  # type: ignore[override]
        self, data: dict[str, Any]
    ) -> Session:
        # A store that saves has a key: `save` begins with making one.
        now = timezone.now()
        noted = data.get(_SIGN_IN, {})
        since = datetime.fromisoformat(noted["at"]) if noted else None
        return Session(
            session_key=digest_of(self.session_key or ""),
            session_data=self.encode(data),
            expire_date=(since or now) + timedelta(seconds=settings.SESSION_COOKIE_AGE),
            user_id=data.get(SESSION_KEY),
            signed_in_at=since,
            last_seen_at=now,
            address=noted.get("address", ""),
            browser=noted.get("browser", ""),
        )

    async def acreate_model_instance(  # type: ignore[override]
        self, data: dict[str, Any]
    ) -> Session:
        return self.create_model_instance(data)

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            Session.objects.filter(pk=digest_of(key)).delete()

    async def adelete(self, session_key: str | None = None) -> None:
        await sync_to_async(self.delete)(session_key)

    @classmethod
    def clear_expired(cls) -> None:
        Session.objects.over(timezone.now()).delete()

    @classmethod
    async def aclear_expired(cls) -> None:
        await sync_to_async(cls.clear_expired)()


def note_use(keys: set[str], now: datetime, *, last: datetime) -> None:
    """Record that sessions are in use, unless that was done within the last minute.

    `last` is when it was last done for the session that has been unused for longest. If
    nothing can be written, people can go on reading.
    """
    if now - last < SEEN_EVERY:
        return
    unseen = Session.objects.filter(pk__in=keys, last_seen_at__lte=now - SEEN_EVERY)
    try:
        unseen.update(last_seen_at=now)
    except DatabaseError as error:
        logger.warning("the use of %d sessions is not noted: %s", len(keys), error)


@receiver(user_logged_in)
def note_sign_in(request: HttpRequest, user: User, **_more: Any) -> None:
    """Note when, from where and with what somebody signs in, and keep the bound."""
    request.session[_SIGN_IN] = {
        "at": timezone.now().isoformat(),
        "address": request.META.get("REMOTE_ADDR", "")[:64],
        "browser": request.META.get("HTTP_USER_AGENT", "")[:MOST_BROWSER_CHARS],
    }
    most = list(sessions_of(user).values_list("pk", flat=True)[MOST_PER_USER - 1 :])
    Session.objects.filter(pk__in=most).delete()


def sessions_of(user: User) -> Sessions:
    """Return a user's valid sessions, the one used last first."""
    return Session.objects.alive(timezone.now()).filter(user=user)


@transaction.atomic
def end_session(session: Session, *, by: User) -> None:
    """End one session: its next request is a stranger's."""
    session.delete()
    _record_end(session.user, by, {"address": session.address, "number": 1})


@transaction.atomic
def end_sessions(user: User, *, by: User, but: str | None) -> int:
    """End all sessions of a user except the one with that key; return their number."""
    keys = Session.objects.filter(user=user)
    if but is not None:
        keys = keys.exclude(pk=digest_of(but))
    number, _tables = keys.delete()
    if number:
        _record_end(user, by, {"number": number})
    return number


def _record_end(user: User | None, by: User, details: dict[str, Any]) -> None:
    target = user.get_username() if user else ""
    record(by, "session.end", target=target, details=details)
