"""Slow down the guessing of passwords: after ten wrong ones, a pause of five minutes.

Wrong passwords are counted in the cache per user name and address. A cache that loses
its data or is away refuses nobody, because the password itself is still asked for.
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import Final

from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from redis import RedisError

LIMIT: Final = 10
PAUSE_SECONDS: Final = 5 * 60


class SignInThrottle:
    """The count of wrong passwords for one name from one address."""

    limit: int = LIMIT

    def __init__(self, username: str, address: str) -> None:
        digest = hashlib.sha256(f"{username}\0{address}".encode()).hexdigest()[:32]
        self._key = f"sign-in:{digest}"

    def check(self) -> None:
        """Raise ValidationError when the limit is reached."""
        count = 0
        # A value that somebody else put in its place counts as missing.
        with contextlib.suppress(RedisError, ValueError, TypeError, OverflowError):
            count = int(cache.get(self._key, 0))
        if count >= self.limit:
            raise ValidationError(self._words() % {"limit": self.limit})

    def _words(self) -> str:
        return _("%(limit)s wrong passwords: wait five minutes, then try again.")

    def failed(self) -> None:
        # A ValueError means that it expired between the two calls: start afresh.
        with contextlib.suppress(RedisError, ValueError):
            cache.add(self._key, 0, PAUSE_SECONDS)
            cache.incr(self._key)

    def forget(self) -> None:
        with contextlib.suppress(RedisError):
            cache.delete(self._key)


class CodeThrottle(SignInThrottle):
    """The count of wrong codes from one address, whoever they are for.

    Those of one account are counted with its second factor, in the database: a code is
    all that is left to guess for whoever knows the password. A right code forgets
    nothing here, so that an account of one's own is no help.
    """

    limit = 3 * LIMIT

    def __init__(self, address: str) -> None:
        super().__init__("\0codes", address)

    def _words(self) -> str:
        return _("%(limit)s wrong codes: wait five minutes, then try again.")
