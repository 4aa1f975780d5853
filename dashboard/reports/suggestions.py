"""Names that the forms of reports suggest: what the last sweep of a cluster found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.live.overview_rows import groups_of, topics_of
from dashboard.live.reading import read_overview


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Groups and topics of a cluster, sorted; any other name can be typed as well."""

    groups: Sequence[str] = ()
    topics: Sequence[str] = ()


def suggestions_for(cluster: str) -> Suggestions:
    """Return the names known of a cluster; none while it has not been swept."""
    document = read_overview(cluster).document if cluster else None
    if not document:
        return Suggestions()
    rows = document["groups"]
    return Suggestions(sorted(groups_of(rows)), topics_of(rows))
