"""What a search finds over all clusters that the reader sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from dashboard.frame.clusters import shown_clusters
from dashboard.frame.not_there import KINDS_WORDS, Link, link_to
from dashboard.live.finding_names import Matches, matches_of
from dashboard.live.known_names import known_names
from dashboard.models import User

LONGEST: Final = 255
SUGGESTED: Final = 5
"""Names of each kind that are offered while one types."""
LISTED: Final = 50
"""Names of each kind on the page of results."""


@dataclass(frozen=True, slots=True)
class Place:
    """A cluster with more of what was found than is listed, and where that is."""

    cluster: str
    more: int
    address: str


@dataclass(frozen=True, slots=True)
class Section:
    """What was found of one kind; `places` have what is not among `links`."""

    kind: str
    title: str
    links: Sequence[Link]
    count: int
    places: Sequence[Place]

    @property
    def more(self) -> int:
        return self.count - len(self.links)


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything found.

    `waiting` names clusters whose names are not known yet; `left_out` counts names that
    are not searched, because their cluster has too many.
    """

    sections: Sequence[Section]
    clusters: int
    waiting: Sequence[str]
    left_out: int


def search(user: User, typed: str, here: str, most_of_a_kind: int) -> Answer:
    """Search all clusters that a user sees, `here` first. Raise redis.RedisError."""
    names = [each.name for each in shown_clusters(user)]
    names.sort(key=lambda name: name != here)
    known = known_names(names)
    found = matches_of(known, typed, most_of_a_kind)
    heard = {each.cluster for each in known}
    return Answer(
        [_section(each, typed) for each in found],
        len(names),
        [name for name in names if name not in heard],
        sum(each.left_out for each in known),
    )


def _section(matches: Matches, typed: str) -> Section:
    links = [link_to(each) for each in matches.found]
    listed = Counter(each.cluster for each in links)
    query = urlencode({"q": typed})
    places = [
        Place(
            cluster,
            count - listed[cluster],
            f"{reverse(f'{matches.kind}s', args=[cluster])}?{query}",
        )
        for cluster, count in matches.counts.items()
        if count > listed[cluster]
    ]
    title = str(KINDS_WORDS[matches.kind])
    return Section(matches.kind, title, links, matches.count, places)
