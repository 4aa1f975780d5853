"""Hash passwords with a bound on the memory that all hashes together take.

Argon2 takes 100 MiB for each password, known or not, and anybody may ask: without a
bound, sixty sign-ins at the same time would take 6 GB.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.contrib.auth.hashers import Argon2PasswordHasher

AT_ONCE: Final = 2
MOST_WAITING: Final = 16
"""A hash takes some 0.1 s, so that nobody waits much longer than a second."""


class TooManyAtOnceError(Exception):
    """More passwords wait to be hashed than are allowed to."""


class BoundedArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2 for a few passwords at a time; others wait, and too many are refused.

    `encode` and `verify` raise TooManyAtOnceError.
    """

    _places = threading.BoundedSemaphore(AT_ONCE)
    _waiting = threading.BoundedSemaphore(AT_ONCE + MOST_WAITING)

    def encode(self, *args: Any, **kwargs: Any) -> str:
        with self._place():
            return str(super().encode(*args, **kwargs))

    def verify(self, *args: Any, **kwargs: Any) -> bool:
        with self._place():
            return bool(super().verify(*args, **kwargs))

    @contextmanager
    def _place(self) -> Iterator[None]:
        if not self._waiting.acquire(blocking=False):
            raise TooManyAtOnceError(
                f"{AT_ONCE + MOST_WAITING} passwords are being hashed already"
            )
        try:
            with self._places:
                yield
        finally:
            self._waiting.release()
