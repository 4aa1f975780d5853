"""What the page of all clusters needs of one cluster's `Overview`.

An overview has a row for each group and may have megabytes; a summary has a few
numbers. It is worked out once for each overview, however many people look.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from dashboard.brokers.reach import BrokerReach, reach_of
from dashboard.live.documents import NameServerState, Overview, OverviewRow

WORST_ROWS: Final = 6
_BAD: Final = ("crit", "warn")


@dataclass(frozen=True, slots=True)
class Summary:
    """A cluster as its last sweep met it.

    `crit` and `warn` count groups; `error` is why the last sweep failed as a whole, and
    `ever` whether any sweep has not. `trend` sums the lags of all groups over the last
    hour, None where that of a group was no longer known.
    """

    taken_at: int
    error: str
    ever: bool
    brokers: int
    answering: int
    missing: int
    troubles: Sequence[BrokerReach]
    unheard: Sequence[NameServerState]
    groups: int
    crit: int
    warn: int
    partial_groups: int
    lag: int | None
    lag_partial: bool
    oldest_ms: int | None
    oldest_partial: bool
    oldest_group: str | None
    trend: Sequence[int | None]
    versions: Sequence[str]
    worst: Sequence[OverviewRow]

    @property
    def whole(self) -> bool:
        """Whether everything about the cluster is known."""
        return not (self.error or self.troubles or self.partial_groups)

    @property
    def as_of(self) -> int:
        """When the cluster was last heard, ms: while no broker answers, before now."""
        since = [each.since for each in self.troubles if each.since is not None]
        if self.error or self.answering or not since:
            return self.taken_at
        return max(since)


def summary_of(overview: Overview) -> Summary:
    """Return the summary of an overview."""
    reach, totals = reach_of(overview), overview["totals"]
    levels = totals["by_level"]
    versions = {broker["version"] for broker in overview["brokers"]}
    return Summary(
        taken_at=overview["taken_at"],
        error=overview.get("error") or "",
        ever=bool(overview["brokers"] or not overview.get("error")),
        brokers=len(reach.brokers),
        answering=reach.answering,
        missing=sum(each.state == "missing" for each in reach.brokers),
        troubles=tuple(reach.troubles),
        unheard=tuple(reach.unheard),
        groups=totals["groups"],
        crit=levels.get("crit", 0),
        warn=levels.get("warn", 0),
        partial_groups=reach.partial_groups,
        lag=totals["lag"],
        lag_partial=totals["lag_partial"],
        oldest_ms=totals["oldest_ms"],
        oldest_partial=totals.get("oldest_partial", False),
        oldest_group=totals["oldest_group"],
        trend=summed(row["lag_trend"] for row in overview["groups"]),
        versions=sorted(filter(None, versions)),
        worst=_worst(overview["groups"]),
    )


def summed(trends: Iterable[Sequence[int | None]]) -> list[int | None]:
    """Sum trends point by point, from the end.

    A trend counts from its first known point on. Where one that counts is not known,
    the sum is not either: without its part, it would look like a recovery.
    """
    given = list(trends)
    known = [_from_first_known(trend) for trend in given]
    length = max(map(len, given), default=0)
    return [
        _sum([trend[-back] for trend in known if back <= len(trend)])
        for back in range(length, 0, -1)
    ]


def _from_first_known(trend: Sequence[int | None]) -> Sequence[int | None]:
    first = (at for at, point in enumerate(trend) if point is not None)
    return trend[next(first, len(trend)) :]


def _sum(points: Sequence[int | None]) -> int | None:
    known = [point for point in points if point is not None]
    return sum(known) if known and len(known) == len(points) else None


def _worst(rows: Sequence[OverviewRow]) -> list[OverviewRow]:
    """Return the first bad groups; the rows are listed worst first."""
    found: list[OverviewRow] = []
    for row in rows:
        if row["status"]["level"] in _BAD:
            found.append(row)
            if len(found) == WORST_ROWS:
                break
    return found
