"""Why the database or Redis refuses, in a sentence for pages and the API.

None of these outages is caused by the request, and each ends by itself: once the disk
has room, memory is freed, or the server is back.
"""

from __future__ import annotations

import time
from typing import Final

import redis
from django.db import DatabaseError, InterfaceError, OperationalError
from django.utils.translation import gettext as _

from dashboard.live.reading import cache_refusal

STALE_MS: Final = 15_000
"""An older document missed a sweep; then Redis is asked whether it takes writes."""

_FULL = ("disk is full", "no space left")
_READ_ONLY = ("readonly database", "read-only")


def outage_of(error: Exception) -> str | None:
    """Return what is wrong; None for an error that is not an outage."""
    if isinstance(error, redis.exceptions.OutOfMemoryError):
        return _("Redis has reached its memory limit (maxmemory) and takes no writes.")
    if isinstance(error, redis.ResponseError):
        return _("Redis refuses: %(reason)s.") % {"reason": error}
    if isinstance(error, redis.RedisError):
        return _("Redis does not answer.")
    said = str(error).lower()
    if not isinstance(error, (DatabaseError, InterfaceError)):
        return None
    if any(part in said for part in _FULL):
        return _("The disk of the database is full.")
    if any(part in said for part in _READ_ONLY):
        return _("The database can only be read, because its disk is read-only.")
    if isinstance(error, (OperationalError, InterfaceError)):
        return _("The database does not answer.")
    return None


def refusal_behind(taken_at_ms: int) -> str | None:
    """Return why Redis accepts no writes, if that is why a document is old."""
    if time.time() * 1000 - taken_at_ms <= STALE_MS:
        return None
    refusal = cache_refusal()
    return None if refusal is None else outage_of(refusal)
