"""Which team owns a group: the most specific of the patterns that match its name.

An exact name counts before a pattern, then a pattern for the cluster before one for
every cluster, then the one with more characters besides `*` and `?`; of patterns that
are still equal, the first by the order of characters. No two teams can own the same
pattern of the same cluster, so there is never a tie.

    found = owners("hangzhou")
    owner = found.of("payments-refunds")
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from dashboard.models import GroupNote, Ownership, User
from dashboard.models.compiled import Compiled
from dashboard.wording.patterns import compiled

MOST_REMEMBERED: Final = 50_000
"""Groups for which an `Owners` remembers the answer."""

_OWNERSHIPS: Final = Compiled(
    lambda: Ownership.objects.filter(cluster__in=["", "of them"]).values_list(
        *("cluster", "groups", "team_id", "team__name", "team__contact", "team__note")
    )
)
_TEAMS: Final = Compiled(
    lambda: User(pk=0).teams.order_by().values_list("pk", flat=True)
)
_WILD: Final = re.compile("[*?]")


@dataclass(frozen=True, slots=True)
class Owner:
    """The team that owns a group. `key` is its number, `note` what it says of itself.

    `contact` is what an admin typed: an address, a link, the name of a channel.
    """

    key: int
    team: str
    contact: str
    note: str


@dataclass(frozen=True, slots=True)
class Owned:
    """A pattern of groups, and who owns them; an empty cluster stands for every one."""

    cluster: str
    groups: str
    owner: Owner

    @property
    def is_exact(self) -> bool:
        return _WILD.search(self.groups) is None

    @property
    def order(self) -> tuple[bool, bool, int, str]:
        """What sorts the most specific first."""
        literal = len(_WILD.sub("", self.groups))
        return (not self.is_exact, not self.cluster, -literal, self.groups)


class Owners:
    """The owners of the groups of one cluster; pure, and safe between threads."""

    def __init__(self, owned: Sequence[Owned]) -> None:
        self._exact: dict[str, Owner] = {}
        # By what a name must begin with, so that few patterns are tried for each.
        self._patterns: dict[str, list[tuple[int, re.Pattern[str], Owner]]] = {}
        for at, each in enumerate(sorted(owned, key=lambda each: each.order)):
            if each.is_exact:
                self._exact.setdefault(each.groups, each.owner)
            else:
                beginning = _WILD.split(each.groups, maxsplit=1)[0]
                tried = self._patterns.setdefault(beginning, [])
                tried.append((at, compiled(each.groups), each.owner))
        self._lengths = sorted({len(each) for each in self._patterns})
        self._known: dict[str, Owner | None] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nobody owns anything."""
        return not self._exact and not self._patterns

    def of(self, group: str) -> Owner | None:
        """Return who owns a group; None for nobody."""
        try:
            return self._known[group]
        except KeyError:
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            return self._known.setdefault(group, self._find(group))

    def _find(self, group: str) -> Owner | None:
        if group in self._exact:
            return self._exact[group]
        matching = [
            (at, owner)
            for beginning in {group[:length] for length in self._lengths}
            for at, pattern, owner in self._patterns.get(beginning, ())
            if pattern.match(group)
        ]
        return min(matching, key=lambda each: each[0])[1] if matching else None


NOBODY: Final = Owners(())
"""Owners where no team owns anything."""


def owners(cluster: str) -> Owners:
    """Return who owns the groups of a cluster as of now, by one query.

    What was worked out is kept for as long as ownership stays the same.
    """
    return _kept(_read(cluster))


def teams_of(user: User) -> frozenset[int]:
    """Return the keys of the teams that a user is in, by one query."""
    return frozenset(key for (key,) in _TEAMS.rows(user.pk))


def note_on(cluster: str, group: str) -> str:
    """Return what is noted on a group; empty for nothing."""
    noted = GroupNote.objects.filter(cluster=cluster, group=group)
    return noted.values_list("text", flat=True).first() or ""


def _read(cluster: str) -> tuple[Owned, ...]:
    return tuple(
        Owned(where, groups, Owner(*team))
        for where, groups, *team in _OWNERSHIPS.rows("", cluster)
    )


@lru_cache(maxsize=64)
def _kept(owned: tuple[Owned, ...]) -> Owners:
    return Owners(owned)
