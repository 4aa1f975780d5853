"""Names that the forms of reports suggest: what the last sweep of a cluster found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    return Suggestions(
        sorted(row["group"] for row in rows),
        sorted({topic for row in rows for topic in row["topics"]}),
    )
