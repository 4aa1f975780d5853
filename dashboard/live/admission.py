"""Ends sockets when the reason for which they were let in is gone.

A socket is let in once, when it connects, and may stay open for days. Meanwhile the
session may be ended, the user disabled, or given other rights or another password. All
sockets of a process are checked together, with one query for the users and one for
their grants.

Belongs to one event loop: `admissions()` returns the running loop's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async
from django.db import DatabaseError
from django.utils import timezone

from dashboard.accounts.proxy_middleware import counts
from dashboard.accounts.second_factor import is_due
from dashboard.accounts.sessions import SessionStore, digest_of, note_use
from dashboard.models import Session, User

from .tasks import end_tasks

logger = logging.getLogger(__name__)

CHECK_SECONDS: Final = 5.0
CLOSE_SIGNED_OUT: Final = 4401
"""Tells the page to check that it is still signed in before it connects again."""

Close: TypeAlias = Callable[[int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Admission:
    """What lets a socket in; if anything in it changes, it no longer does."""

    session: str
    user_id: int
    role: str
    grants: tuple[str, ...]
    auth_hash: str

    @classmethod
    def of(cls, session: str, user: User) -> Admission:
        """Describe a session, by its digest, with its user as known now."""
        grants = tuple(str(each) for each in user.granted)
        auth_hash = user.get_session_auth_hash()
        return cls(session, user.pk, user.role, grants, auth_hash)


def admission_of(
    user: object, session: SessionStore | None, scope: Mapping[str, Any]
) -> Admission | None:
    """Return what lets a socket in, or None for strangers and disabled users."""
    key = session.session_key if session is not None else None
    if not isinstance(user, User) or not user.is_active or not key:
        return None
    if session is None or not counts(scope, session) or is_due(user):
        return None
    return Admission.of(digest_of(key), user)


class Admissions:
    """The open sockets of one event loop, and the task that checks them."""

    def __init__(self) -> None:
        self._open: dict[Close, Admission] = {}
        self._checking: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()

    def add(self, close: Close, admission: Admission) -> None:
        """Check a socket from now on; `close` is called once, when it must end."""
        self._open[close] = admission
        if self._checking is None:
            loop = asyncio.get_running_loop()
            self._checking = loop.create_task(self._check_for_ever())

    async def discard(self, close: Close) -> None:
        """Check a socket no more; the last one ends the task."""
        self._open.pop(close, None)
        if not self._open and self._checking is not None:
            checking, self._checking = self._checking, None
            await end_tasks(checking)

    async def _check_for_ever(self) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            try:
                await self._check()
            except DatabaseError as error:
                # Requests have the same problem; closed sockets would only connect
                # again.
                logger.warning(
                    "%d live sockets not checked: %s", len(self._open), error
                )

    async def _check(self) -> None:
        asked = set(self._open.values())
        standing = await database_sync_to_async(_standing)(asked, timezone.now())
        for close, admission in list(self._open.items()):
            if admission in asked - standing:
                del self._open[close]
                # A socket that does not answer must not hold up others.
                closing = asyncio.get_running_loop().create_task(_end(close))
                self._closing.add(closing)
                closing.add_done_callback(self._closing.discard)


async def _end(close: Close) -> None:
    try:
        await close(CLOSE_SIGNED_OUT)
    except Exception as error:
        # Servers differ in how they report that the other side has gone.
        logger.debug("live socket had gone: %r", error)


def _standing(asked: set[Admission], now: datetime) -> set[Admission]:
    """Return what still lets sockets in; an open page counts as use of its session."""
    rows = (
        Session.objects.alive(now)
        .filter(pk__in={each.session for each in asked}, user__is_active=True)
        .select_related("user__identity", "user__second_factor")
        .prefetch_related("user__grants")
        .defer("session_data")
    )
    found = {row.pk: row for row in rows}
    standing = {
        Admission.of(pk, row.user)
        for pk, row in found.items()
        if row.user and not is_due(row.user)
    }
    in_use = {each.session for each in asked & standing}
    if in_use:
        note_use(in_use, now, last=min(found[pk].last_seen_at for pk in in_use))
    return standing


_admissions: WeakKeyDictionary[asyncio.AbstractEventLoop, Admissions] = (
    WeakKeyDictionary()
)


def admissions() -> Admissions:
    """Return the admissions of the running event loop."""
    return _admissions.setdefault(asyncio.get_running_loop(), Admissions())
