"""Leaves a peer alone for a while after it said it was busy or did not answer.

Theory. One breaker per peer (a broker's address, a client's id). Closed, everything
passes. A failure opens it for a pause; failures in a row double the pause up to a
limit. When the pause is over, one caller passes and tries (half open); the others wait
for the outcome. A success closes it. Time is an argument.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

FIRST_PAUSE_S: Final = 5.0
LONGEST_PAUSE_S: Final = 60.0
SILENT_PAUSE_S: Final = 2.0
"""For a peer that merely did not answer: asking it costs nobody anything, and its
answer is wanted as soon as it is back."""

Peer = TypeVar("Peer", bound=Hashable)


@dataclass(slots=True)
class _Opened:
    until: float
    pause: float
    why: Exception


class Breakers(Generic[Peer]):
    """The breakers of many peers; a peer without failures costs nothing."""

    def __init__(
        self, first_pause_s: float = FIRST_PAUSE_S, longest_s: float = LONGEST_PAUSE_S
    ) -> None:
        self._first_pause_s = first_pause_s
        self._longest_s = longest_s
        self._opened: dict[Peer, _Opened] = {}

    def __len__(self) -> int:
        return len(self._opened)

    def is_open(self, peer: Peer) -> bool:
        """Return whether anything is held against a peer, without claiming a try."""
        return peer in self._opened

    def blocked(self, peer: Peer, now: float) -> Exception | None:
        """Return the error held against a peer, or None when it may be asked.

        After a pause the caller that gets None is the one that tries; until it reports,
        others are told to wait for another pause.
        """
        opened = self._opened.get(peer)
        if opened is None:
            return None
        if now < opened.until:
            return opened.why
        opened.until = now + opened.pause
        return None

    def failed(self, peer: Peer, now: float, why: Exception) -> None:
        """Open a peer's breaker, for longer than the last time."""
        opened = self._opened.get(peer)
        pause = (
            self._first_pause_s
            if opened is None
            else min(opened.pause * 2, self._longest_s)
        )
        self._opened[peer] = _Opened(now + pause, pause, why)

    def succeeded(self, peer: Peer) -> None:
        """Close a peer's breaker."""
        self._opened.pop(peer, None)

    def forget_all_but(self, peers: frozenset[Peer]) -> None:
        """Drop the breakers of peers that no longer exist."""
        for peer in self._opened.keys() - peers:
            del self._opened[peer]
