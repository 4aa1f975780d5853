"""The broker processes of a cluster: reports joined with how the last sweep met them.

Limits are RocketMQ's own: where a broker begins to refuse or to delete, or counts a
slave as not in sync.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from dashboard.live.broker_documents import (
    BrokerFigures,
    BrokersDocument,
    BrokerState,
    Replicas,
    untold,
)
from dashboard.live.documents import Overview
from dashboard.wording.numbers import duration
from dashboard.wording.sizes import percent, size
from dashboard.wording.words import word

from .reach import BrokerReach, reach_of

Level = Literal["crit", "warn", "unk", "ok"]
LEVELS: Final[tuple[Level, ...]] = ("crit", "warn", "unk", "ok")
MASTER_ID: Final = 0

WARNING_RATIO: Final = 0.9
"""From this ratio on a broker refuses writes, unless its settings say otherwise."""
SOON_MS: Final = 24 * 3600 * 1000
PAGE_CACHE_MS: Final = 1_000
"""`osPageCacheBusyTimeOutMills`: a broker refuses sends beyond it."""
SEND_WAIT_MS: Final = 200
"""`waitTimeMillsInSendQueue`: a request that waited longer is refused."""
POOL_WAIT_MS: Final = 1_000
BEHIND_BYTES: Final = 256 << 20
"""`haMaxGapNotInSync`: a slave that is further behind does not count as in sync."""


@dataclass(frozen=True, slots=True)
class BrokerRow:
    """One broker process; `reach` is how the last sweep met its broker name."""

    state: BrokerState
    reach: BrokerReach | None

    @property
    def key(self) -> str:
        return f"{self.state['name']}/{self.state['broker_id']}"

    @property
    def is_master(self) -> bool:
        return self.state["broker_id"] == MASTER_ID

    @property
    def figures(self) -> BrokerFigures | None:
        return self.state["figures"]

    @property
    def fresh(self) -> bool:
        """Whether the figures are from the last time it was asked."""
        return self.state["error"] is None and self.figures is not None

    @property
    def level(self) -> Level:
        return min(
            (level for level, _ in self.troubles), key=LEVELS.index, default="ok"
        )

    @property
    def troubles(self) -> list[tuple[Level, str]]:
        """What is wrong with it, worst first, each with a sentence."""
        return sorted(_troubles(self), key=lambda each: LEVELS.index(each[0]))

    @property
    def wait_ms(self) -> int | None:
        """How long the longest waiting request has waited, over all pools."""
        pools = self.figures["pools"] if self.figures else ()
        waits = [each["wait_ms"] for each in pools if each["wait_ms"] is not None]
        return max(waits, default=None)

    @property
    def waiting(self) -> int | None:
        """How many requests wait, over all pools."""
        pools = self.figures["pools"] if self.figures else ()
        sizes = [each["size"] for each in pools if each["size"] is not None]
        return sum(sizes) if sizes else None

    @property
    def controller(self) -> bool | None:
        """Whether a controller elects its master; None where it has not said so."""
        said = self.state["settings"].get("enableControllerMode")
        return None if said is None else said == "true"

    @property
    def replicas(self) -> Replicas | None:
        """The slaves of a master, as it last reported them."""
        return self.state.get("replicas")

    @property
    def replicas_why(self) -> str:
        """Why a master's slaves are not known."""
        return self.state.get("replicas_why") or "not_asked"

    def why(self, key: str) -> str:
        """Return the reason for which a figure is not known."""
        if self.figures is None:
            return self.state["reason"] or "never_answered"
        return self.state["unknown"].get(key, "not_told")


def broker_rows(
    document: BrokersDocument | None, overview: Overview | None
) -> list[BrokerRow]:
    """Return all broker processes, those without a report among them."""
    reach = {each.name: each for each in reach_of(overview).brokers} if overview else {}
    states = document["brokers"] if document else []
    rows = [BrokerRow(state, reach.get(state["name"])) for state in states]
    reported = {state["name"] for state in states}
    rows += [
        BrokerRow(_unasked(each), each)
        for name, each in reach.items()
        if name not in reported
    ]
    return rows


def _unasked(reach: BrokerReach) -> BrokerState:
    """Return what can be said of a broker that has not been asked yet."""
    document = reach.document
    return untold(
        reach.name,
        document["cluster"] or "",
        MASTER_ID,
        document["address"] or "",
        why="never_answered",
    )


def _troubles(row: BrokerRow) -> Iterator[tuple[Level, str]]:
    state, figures = row.state, row.figures
    if state["error"] is not None:
        yield "crit", word("broker_trouble", "silent", error=state["error"])
        return
    if row.reach is not None and row.reach.state != "answered" and row.is_master:
        level: Level = "warn" if row.reach.state in {"slave", "partial"} else "crit"
        yield level, row.reach.told or word("broker", row.reach.state)
    if figures is None:
        yield "unk", word("unknown", "never_answered")
        return
    yield from _disk_troubles(row, figures)
    yield from _load_troubles(row, figures)


def _disk_troubles(
    row: BrokerRow, figures: BrokerFigures
) -> Iterator[tuple[Level, str]]:
    ratio, forced = figures["disk_ratio"], row.state["full_ratio"]
    limit = _warning_ratio(row.state["settings"])
    if ratio is not None and ratio >= limit:
        values = {"ratio": percent(ratio), "limit": percent(limit)}
        yield "crit", word("broker_trouble", "disk_full", **values)
    elif ratio is not None and forced is not None and ratio >= forced:
        yield "crit", word("broker_trouble", "deletes", ratio=percent(ratio))
    elif (left := row.state["full_in_ms"]) is not None and left < SOON_MS:
        yield "warn", word("broker_trouble", "fills", span=duration(left))


def _load_troubles(
    row: BrokerRow, figures: BrokerFigures
) -> Iterator[tuple[Level, str]]:
    held = figures["page_cache_ms"]
    if held is not None and held >= PAGE_CACHE_MS:
        yield "crit", word("broker_trouble", "page_cache", span=duration(held))
    for pool in figures["pools"]:
        wait, limit = pool["wait_ms"], POOL_WAIT_MS
        if pool["name"] == "send":
            limit = SEND_WAIT_MS
        if wait is not None and wait >= limit:
            name = word("broker_pool", pool["name"])
            yield (
                "warn",
                word("broker_trouble", "waits", pool=name, span=duration(wait)),
            )
    behind = row.state["behind_bytes"]
    if behind is not None and behind >= BEHIND_BYTES:
        yield "warn", word("broker_trouble", "behind", size=size(behind))
    late = figures["dispatch_bytes"]
    if late is not None and late >= BEHIND_BYTES:
        yield "warn", word("broker_trouble", "dispatch", size=size(late))


def _warning_ratio(settings: Mapping[str, str]) -> float:
    """Return the ratio from which on a broker refuses writes; it keeps 0.35 to 0.9."""
    text = settings.get("diskSpaceWarningLevelRatio", "")
    if not text.isdigit():
        return WARNING_RATIO
    return max(0.35, min(WARNING_RATIO, int(text) / 100))
