"""The hue and letter of each member: one of twelve places, kept while on screen.

A place belongs to a client id. When a member leaves, the others keep theirs, and its
own stays taken for as long as the timeline shows it; with sorted positions every member
would change its colour at each join, just when people are looking. With more than
twelve members, places are shared evenly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rmqcore.model import sorted_client_ids

PLACES: Final = 12
KEPT_AFTER_LEAVING_MS: Final = 15 * 60 * 1000
"""The span that the timeline shows."""


class Hues:
    """The places of one group's members; `now_ms` never goes back."""

    __slots__ = ("_left_at", "_place")

    def __init__(self, known: Mapping[str, int] | None = None) -> None:
        self._place: dict[str, int] = dict(known or {})
        self._left_at: dict[str, int] = {}

    @classmethod
    def restored(cls, shown: Mapping[str, int], dumped: Mapping[str, Any]) -> Hues:
        """Continue from what a document shows and what `dump` returned earlier."""
        hues = cls(shown)
        for client_id, (place, left_at) in dumped.items():
            hues._place.setdefault(client_id, place)
            if left_at is not None:
                hues._left_at[client_id] = left_at
        return hues

    def dump(self) -> dict[str, tuple[int, int | None]]:
        """Return each client's place, and when it left if it did."""
        left_at = self._left_at
        return {
            client: (place, left_at.get(client))
            for client, place in self._place.items()
        }

    def assign(self, client_ids: Iterable[str], now_ms: int) -> dict[str, int]:
        """Return the place of each member, giving places to new ones."""
        present = sorted_client_ids(set(client_ids))
        self._note_absence(present, now_ms)
        for client_id in present:
            if client_id not in self._place:
                self._place[client_id] = self._best_place(present)
        return {client_id: self._place[client_id] for client_id in present}

    @property
    def kept(self) -> dict[str, int]:
        """The places of members that left and are still on screen."""
        return {client_id: self._place[client_id] for client_id in self._left_at}

    @property
    def rests(self) -> bool:
        """Whether no place is kept for a member that left."""
        return not self._left_at

    def _note_absence(self, present: list[str], now_ms: int) -> None:
        for client_id in present:
            self._left_at.pop(client_id, None)
        for client_id in self._place.keys() - set(present):
            left_at = self._left_at.setdefault(client_id, now_ms)
            if now_ms - left_at >= KEPT_AFTER_LEAVING_MS:
                del self._left_at[client_id], self._place[client_id]

    def _best_place(self, present: list[str]) -> int:
        here = Counter(self._place[c] for c in present if c in self._place)
        gone = Counter(self._place[c] for c in self._left_at)
        return min(range(PLACES), key=lambda place: (here[place], gone[place], place))
