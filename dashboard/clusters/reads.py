"""All clusters as the first page shows them, worst first, and their sums.

The order is: needs a look, half known, not reachable, falling behind, healthy. A sum
over clusters carries ≥ as soon as a part of it is not known; what a cluster that is not
reachable last said is shown beside the sum and is no part of it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Literal, cast

import redis
from django.conf import settings

from dashboard.frame.clusters import shown_clusters
from dashboard.live.decoding import read_object
from dashboard.live.documents import Level, Overview, OverviewRow
from dashboard.live.state import live_state
from dashboard.models import Cluster, User

from .summary import WORST_ROWS, Summary, summary_of

logger = logging.getLogger(__name__)

State = Literal["look", "partial", "unreachable", "waiting", "warning", "healthy"]

ORDER: Final[Sequence[State]] = (
    "look",
    "partial",
    "unreachable",
    "waiting",
    "warning",
    "healthy",
)
SILENT_MS: Final = 30_000
"""A cluster whose last sweep is older is not collected, or not to be reached."""


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """One cluster; `summary` is None before its first sweep."""

    cluster: Cluster
    state: State
    summary: Summary | None
    stale: bool

    @property
    def name(self) -> str:
        return self.cluster.name

    @property
    def fresh(self) -> Summary | None:
        """What is known now; None where all that is known is old."""
        return None if self.state in {"unreachable", "waiting"} else self.summary

    @property
    def whole(self) -> bool:
        return self.fresh is not None and self.fresh.whole

    @property
    def look(self) -> int | None:
        """How many groups need a look."""
        return None if self.fresh is None else self.fresh.crit + self.fresh.warn

    @property
    def level(self) -> Level:
        levels: dict[State, Level] = {
            "look": "crit",
            "partial": "warn",
            "warning": "warn",
            "healthy": "ok",
        }
        return levels.get(self.state, "unk")

    @property
    def is_behind(self) -> bool:
        """Whether the worst that is known is a group that falls behind."""
        worst = self.summary.worst if self.summary else ()
        return any(row["status"]["word"] == "falling_behind" for row in worst)


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum over clusters; `partial` where there may be more."""

    value: int | None
    partial: bool


@dataclass(frozen=True, slots=True)
class WorstGroup:
    """A group that needs a look, and its cluster."""

    cluster: str
    row: OverviewRow


@dataclass(frozen=True, slots=True)
class AllClusters:
    """Every cluster, worst first."""

    rows: Sequence[ClusterRow]

    @property
    def whole(self) -> int:
        """How many clusters answer in full."""
        return sum(row.whole for row in self.rows)

    @property
    def partial(self) -> bool:
        return self.whole < len(self.rows)

    @property
    def known(self) -> list[Summary]:
        return [row.fresh for row in self.rows if row.fresh is not None]

    @property
    def old(self) -> list[ClusterRow]:
        """The clusters of which only old numbers are known."""
        return [
            row
            for row in self.rows
            if row.fresh is None and row.summary is not None and row.summary.ever
        ]

    @property
    def look(self) -> Sum:
        return Sum(sum(each.crit + each.warn for each in self.known), self.partial)

    @property
    def groups(self) -> Sum:
        return Sum(sum(each.groups for each in self.known), self.partial)

    @property
    def lag(self) -> Sum:
        lags = [each.lag for each in self.known if each.lag is not None]
        partial = len(lags) < len(self.rows) or any(
            each.lag_partial for each in self.known
        )
        return Sum(sum(lags) if lags else None, partial)

    @property
    def oldest(self) -> ClusterRow | None:
        """The cluster with the oldest message that waits, as far as is known."""
        known = [row for row in self.rows if row.fresh and row.fresh.oldest_ms]
        return max(known, key=_oldest_ms, default=None)

    @property
    def oldest_partial(self) -> bool:
        return self.partial or any(each.oldest_partial for each in self.known)

    @property
    def brokers(self) -> int:
        return sum(row.summary.brokers for row in self.rows if row.summary)

    @property
    def without_brokers(self) -> int:
        """How many clusters have never told which brokers they have."""
        return sum(not (row.summary and row.summary.ever) for row in self.rows)

    @property
    def answering(self) -> int:
        return sum(each.answering for each in self.known)

    @property
    def missing(self) -> int:
        return sum(each.missing for each in self.known)

    @property
    def unknown_brokers(self) -> int:
        return self.brokers - self.answering - self.missing

    @property
    def taken_at(self) -> int:
        """When the oldest of what is fresh was taken, ms; 0 where nothing is."""
        return min((each.taken_at for each in self.known), default=0)

    @property
    def worst_groups(self) -> list[WorstGroup]:
        """The groups that need a look most, over all clusters."""
        found = [
            WorstGroup(row.name, each)
            for row in self.rows
            if row.fresh
            for each in row.fresh.worst
        ]
        found.sort(key=lambda each: each.row["status"]["level"] != "crit")
        return found[:WORST_ROWS]


def all_clusters(user: User, now_ms: int) -> AllClusters:
    """Return the clusters that a user sees, as they stand. Raise redis.RedisError."""
    rows = [
        cluster_row(cluster, _summary(cluster.name), now_ms)
        for cluster in shown_clusters(user)
    ]
    return AllClusters(sorted(rows, key=rank))


def without_state(user: User) -> AllClusters:
    """Return the same while nothing can be read of any."""
    return AllClusters(
        [cluster_row(cluster, None, 0) for cluster in shown_clusters(user)]
    )


def cluster_row(cluster: Cluster, summary: Summary | None, now_ms: int) -> ClusterRow:
    """Judge a cluster by its last summary."""
    stale = summary is not None and now_ms - summary.taken_at > SILENT_MS
    return ClusterRow(cluster, _state(summary, stale=stale), summary, stale)


def rank(row: ClusterRow) -> tuple[int, int]:
    """Return what sorts clusters worst first; equal ones by their lag."""
    lag = row.fresh.lag if row.fresh else None
    return ORDER.index(row.state), -(lag or 0)


def _state(summary: Summary | None, *, stale: bool) -> State:
    if summary is None:
        return "waiting"
    if summary.error or stale or (summary.brokers and not summary.answering):
        return "unreachable"
    if summary.crit:
        return "look"
    if not summary.whole or summary.unheard:
        return "partial"
    return "warning" if summary.warn else "healthy"


def _oldest_ms(row: ClusterRow) -> int:
    return (row.fresh.oldest_ms or 0) if row.fresh else 0


_summaries: dict[str, tuple[bytes, Summary]] = {}
"""The last summary of each cluster, with the digest of the text that it is from."""


def _summary(name: str) -> Summary | None:
    """Return a cluster's summary; None where what the cache holds is no overview."""
    if not settings.ROCKETSCOPE_REDIS_URL:
        raise redis.ConnectionError("ROCKETSCOPE_REDIS_URL is not set")
    try:
        return _summary_of_text(name, live_state().overview_text(name))
    except (AttributeError, KeyError, TypeError, redis.ResponseError) as error:
        logger.warning("cluster=%s the cache holds no overview: %r", name, error)
        return None


def _summary_of_text(name: str, text: bytes | None) -> Summary | None:
    if text is None:
        _summaries.pop(name, None)
        return None
    digest = blake2b(text, digest_size=16).digest()
    known = _summaries.get(name)
    if known is not None and known[0] == digest:
        return known[1]
    document = cast("Overview | None", read_object(text))
    if document is None:
        return None
    summary = summary_of(document)
    _summaries[name] = (digest, summary)
    return summary
