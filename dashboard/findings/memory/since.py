"""Tracks since when conditions have held, look after look.

A look names, for one kind of condition, all subjects that meet it now; those not named
are forgotten. Time is an argument.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any


class Since:
    """The present subjects of each kind, and when each was first seen to meet it."""

    __slots__ = ("_kinds",)

    def __init__(self) -> None:
        self._kinds: dict[str, dict[Hashable, tuple[int, int]]] = {}

    @classmethod
    def restored(cls, dumped: Mapping[str, Sequence[Any]]) -> Since:
        """Continue from what `dump` returned."""
        since = cls()
        for kind, subjects in dumped.items():
            since._kinds[kind] = {
                _subject(subject): (first, last) for subject, first, last in subjects
            }
        return since

    def dump(self, at_least_ms: int = 0) -> dict[str, Any]:
        """Return the conditions that have held at least that long, as plain values."""
        found: dict[str, Any] = {}
        for kind, subjects in self._kinds.items():
            lasting = [
                (subject, first, last)
                for subject, (first, last) in subjects.items()
                if last - first >= at_least_ms
            ]
            if lasting:
                found[kind] = lasting
        return found

    def note(self, kind: str, subjects: Iterable[Hashable], at_ms: int) -> None:
        """Record the subjects of one kind at one look."""
        known = self._kinds.get(kind, {})
        now = {each: (known.get(each, (at_ms, at_ms))[0], at_ms) for each in subjects}
        if now or known:
            self._kinds[kind] = now

    def lasted_ms(self, kind: str, subject: Hashable) -> int | None:
        """Return how long the subject has met the condition, None if it does not."""
        times = self._kinds.get(kind, {}).get(subject)
        return None if times is None else times[1] - times[0]

    def began_ms(self, kind: str, subject: Hashable) -> int | None:
        """Return since when the subject has met the condition, None if it does not."""
        times = self._kinds.get(kind, {}).get(subject)
        return None if times is None else times[0]

    def lasting(self, kind: str, at_least_ms: int) -> list[Hashable]:
        """Return the subjects that have met the condition for at least that long."""
        return [
            subject
            for subject, (first, last) in self._kinds.get(kind, {}).items()
            if last - first >= at_least_ms
        ]


def _subject(plain: Any) -> Hashable:
    """Return a subject from its plain form, in which tuples became lists."""
    if isinstance(plain, list | tuple):
        return tuple(_subject(each) for each in plain)
    subject: Hashable = plain
    return subject
