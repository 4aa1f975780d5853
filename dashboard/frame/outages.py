"""What is the matter when database or Redis refuse, in a sentence for pages and API.

None of these is a fault of what was asked, and each is over by itself: once the disk
has room, the memory is freed, or the server is there again.
"""

from __future__ import annotations

import redis
from django.db import DatabaseError, InterfaceError, OperationalError
from django.utils.translation import gettext as _

_FULL = ("disk is full", "no space left")
_READ_ONLY = ("readonly database", "read-only")


def outage_of(error: Exception) -> str | None:
    """Return what is the matter; None for an error that is no outage."""
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
