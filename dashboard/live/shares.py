"""One user's share of this process's live sockets, however many are opened.

Counted per process: the costs arise in each process (memory, the loop, a place in Redis
for each watch), a count in Redis would need to be renewed by each process and would
refuse everybody when Redis loses it, and there are few web processes. For all processes
together, collectors bound how many groups of a cluster are asked each second
(`collector.asking.WATCHED_GROUPS`).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Final

from .messages import MessageError

MOST_SOCKETS: Final = 32
"""Open pages of one user: windows and tabs, on all their machines."""
MOST_WATCHES: Final = 128
"""Of all sockets of one user; a page watches one thing, or every cluster."""
MESSAGES_AT_ONCE: Final = 200
MESSAGES_A_SECOND: Final = 20.0
"""Refill the allowance. When a server returns, each of 32 pages says two or three."""


class ShareError(MessageError):
    """A user's sockets take too much; the socket is closed with this reason."""


class Share:
    """The sockets, watches and messages of one user."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._sockets = 0
        self._watches = 0
        self._allowance = float(MESSAGES_AT_ONCE)
        self._counted_at = now()

    def take_socket(self) -> None:
        """Count one more socket, which is a message, too. Raises ShareError."""
        self.take_message()
        if self._sockets >= MOST_SOCKETS:
            raise ShareError(
                f"{MOST_SOCKETS} live pages are open, the most for a user in one web "
                "process"
            )
        self._sockets += 1

    def give_socket(self) -> None:
        self._sockets -= 1

    def take_watch(self) -> None:
        """Count one more watch. Raises MessageError; the socket may stay."""
        if self._watches >= MOST_WATCHES:
            raise MessageError(
                f"{MOST_WATCHES} watches, the most for a user in one web process"
            )
        self._watches += 1

    def give_watch(self) -> None:
        self._watches -= 1

    def take_message(self) -> None:
        """Count one more message. Raises ShareError."""
        now = self._now()
        refill = (now - self._counted_at) * MESSAGES_A_SECOND
        self._allowance = min(MESSAGES_AT_ONCE, self._allowance + refill)
        self._counted_at = now
        if self._allowance < 1:
            raise ShareError(
                f"more than {MESSAGES_AT_ONCE} messages at once, and then "
                f"{MESSAGES_A_SECOND:.0f} a second"
            )
        self._allowance -= 1


_shares: defaultdict[object, Share] = defaultdict(Share)


def share_of(user: object) -> Share:
    """Return the share of a user, by primary key; there are as many as users."""
    return _shares[user]
