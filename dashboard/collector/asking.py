"""Choose the groups whose members are asked what they hold (307), and how many.

Asking costs each member's client a round trip through a broker's admin thread, so it
is done for groups that somebody watches, and after each sweep of all groups for a
bounded number of others: those that changed first, then those that lag most, then
those not asked for the longest time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from heapq import nsmallest
from typing import Final, NamedTuple

WATCHED_GROUPS: Final = 200
"""More watched groups than this are swept with all others, every 10 s."""

ASKED_PER_SWEEP: Final = 50

NEWCOMERS: Final = 20
"""How many watched names not yet met are looked for each second; the sweep of all finds
the others. A made-up name costs one request a second to each broker."""


class Candidate(NamedTuple):
    """A group that may be asked, with the figures that rank it."""

    group: str
    members: int
    changed: bool
    lag: int
    asked_at_ms: int | None


def choose_watched(
    watched: Mapping[str, float], known: Collection[str]
) -> tuple[frozenset[str], int]:
    """Return the groups of the 1 s list, and how many watched ones did not fit.

    Groups watched for the longest time to come, whose page is open, go first. A few
    names that are not known yet are included, so that a group made a moment ago is
    shown before the next sweep of all finds it.
    """
    ordered = sorted(watched, key=lambda name: (-watched[name], name))
    there = [name for name in ordered if name in known]
    new = [name for name in ordered if name not in known]
    chosen = frozenset(there[:WATCHED_GROUPS]) | frozenset(new[:NEWCOMERS])
    return chosen, max(0, len(there) - WATCHED_GROUPS)


def choose_asked(
    candidates: Iterable[Candidate], limit: int = ASKED_PER_SWEEP
) -> frozenset[str]:
    """Return the groups to ask after a sweep of all; never those without members."""
    chosen = nsmallest(
        limit,
        (each for each in candidates if each.members),
        key=lambda each: (not each.changed, -each.lag, each.asked_at_ms or 0),
    )
    return frozenset(each.group for each in chosen)
