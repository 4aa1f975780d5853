"""Finds names in clusters: by a part that was typed, or near one that is not there."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import redis

from dashboard.wording.nearness import matching, nearest

from .known_names import KnownNames, known_names
from .name_documents import KINDS, NameKind

logger = logging.getLogger(__name__)

NEAR_NAMES: Final = 3


@dataclass(frozen=True, slots=True)
class FoundName:
    """A group, topic, client or broker and the cluster that has it."""

    kind: NameKind
    name: str
    cluster: str


@dataclass(frozen=True, slots=True)
class Matches:
    """The best matches of one kind, and how many there are in each cluster."""

    kind: NameKind
    found: Sequence[FoundName]
    counts: Mapping[str, int]

    @property
    def count(self) -> int:
        return sum(self.counts.values())


def matches_of(
    clusters: Sequence[KnownNames], typed: str, most_of_a_kind: int
) -> list[Matches]:
    """Return the matches of each kind that has any; earlier clusters come first."""
    every = (_matches(clusters, kind, typed, most_of_a_kind) for kind in KINDS)
    return [each for each in every if each.count]


def _matches(
    clusters: Sequence[KnownNames], kind: NameKind, typed: str, most: int
) -> Matches:
    ranked: list[tuple[int, int, int, FoundName]] = []
    counts: dict[str, int] = {}
    for order, known in enumerate(clusters):
        places, matched = matching(known.folded[kind], typed, most)
        counts[known.cluster] = matched
        for position, (rank, at) in enumerate(places):
            found = FoundName(kind, known.names[kind][at], known.cluster)
            ranked.append((rank, order, position, found))
    ranked.sort(key=lambda each: each[:3])
    return Matches(kind, [each[3] for each in ranked[:most]], counts)


def is_missing(cluster: str, kind: NameKind, name: str) -> bool:
    """Tell whether the names of a cluster are known, and this is none of them."""
    try:
        known = known_names([cluster])
    except redis.RedisError:
        return False
    return bool(known) and not known[0].left_out and name not in known[0].names[kind]


def near_names(cluster: str, kind: NameKind, name: str) -> list[FoundName]:
    """Return what may be meant by a name that is not there; [] where nothing is known.

    Exact matches of another kind come first.
    """
    try:
        known = known_names([cluster])
    except redis.RedisError as error:
        logger.warning("the cache did not answer: %s", error)
        return []
    if not known:
        return []
    names, folded = known[0].names, known[0].folded
    found = [
        FoundName(other, name, cluster)
        for other in KINDS
        if other != kind and name in names[other]
    ]
    near = nearest(names[kind], folded[kind], name, NEAR_NAMES)
    return found + [FoundName(kind, each, cluster) for each in near]
