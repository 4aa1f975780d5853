"""What pages say of topics, worked out from the document of the collector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dashboard.live.documents import GroupState
from dashboard.live.topic_documents import TopicBroker, TopicGroup, TopicRow
from dashboard.wording.numbers import DAY
from dashboard.wording.words import word

ORDER: Final = (
    "no_consumer",
    "hot_queue",
    "filling",
    "brokers_differ",
    "half_known",
    "not_measured",
    "healthy",
)
LEVELS: Final = (1, 100, 1_000, 10_000, 100_000)
HOT_TIMES: Final = 3
COLUMNS: Final = 64
"""More queues than this do not fit side by side; the table has them all."""

KINDS: Final = frozenset({"retry", "dlq", "system"})
WRITE: Final = 2


def rank_of(row: TopicRow) -> tuple[int, float, str]:
    """Return what sorts topics: the worst state first, then the most traffic."""
    return ORDER.index(row["status"]["word"]), -(row["rate_in"] or 0), row["topic"]


def type_of(row: TopicRow) -> str:
    """Return the key of a topic's type, as the chips name it."""
    if row["kind"] != "normal":
        return row["kind"]
    return row["message_type"] or "mixed_types"


def type_label(key: str) -> str:
    """Return a type as people read it; RocketMQ's own words are not translated."""
    return key.upper() if key in KINDS else word("topic_kind", key)


def is_idle(row: TopicRow, now_ms: int) -> bool:
    """Tell whether no message came for 24 hours, or none ever did."""
    quiet = row["quiet_since"]
    return row["kind"] != "system" and quiet is not None and now_ms - quiet >= DAY


def knows_groups(row: TopicRow) -> bool:
    """Tell whether no other group reads the topic than those of its row."""
    return row.get("groups_known", True)


def queues_text(row: TopicRow) -> str:
    """Return the queues of each broker as "8 + 8"; ? where it was never asked."""
    return " + ".join(
        "?" if each["reason"] and not each["max"] else str(_count(each))
        for each in row["brokers"]
    )


def brokers_of(row: TopicRow) -> list[str]:
    """Return the brokers of a topic, also of a static one."""
    return list(row.get("leaders") or (each["name"] for each in row["brokers"]))


def _count(broker: TopicBroker) -> int:
    return len(broker["ids"]) + broker["left_out"]


@dataclass(frozen=True, slots=True)
class QueueSeen:
    """One queue of the page; `share` is of all that comes, `height` a bar's per cent.

    Both are None while a queue of the topic is not known. `as_of` is set for old
    values. `held` is how many messages lie in it.
    """

    broker: str
    queue_id: int
    low: int | None
    high: int | None
    rate: float | None
    share: float | None
    height: float
    hot: bool
    as_of: int | None
    held: int | None

    @property
    def top(self) -> float:
        """Return where the bar begins, in per cent from the top."""
        return 100 - self.height


def queues_of(row: TopicRow) -> list[QueueSeen]:
    """Return the queues that the document lists, in the order of brokers and ids."""
    total = None if row["rate_partial"] else row["rate_in"]
    rates = [rate or 0 for broker in row["brokers"] for rate in broker["rate"]]
    # An even spread fills a third: a bar at the top is hot, or close to it.
    most = max(max(rates, default=0), HOT_TIMES * sum(rates) / max(1, len(rates)))
    hot = {(each["broker"], each["queue_id"]) for each in row["hot"]}
    found = []
    for broker in row["brokers"]:
        empty: list[int | None] = [None] * len(broker["ids"])
        lows, highs = broker["min"] or empty, broker["max"] or empty
        held = broker.get("held") or list(map(_held, lows, highs))
        for queue_id, low, high, rate, lies in zip(
            broker["ids"], lows, highs, broker["rate"], held, strict=True
        ):
            found.append(
                QueueSeen(
                    broker["name"],
                    queue_id,
                    low,
                    high,
                    rate,
                    rate / total * 100 if total and rate is not None else None,
                    round(rate / most * 100, 1) if rate and most else 0.0,
                    (broker["name"], queue_id) in hot,
                    broker["as_of"],
                    lies,
                )
            )
    return found


def _held(low: int | None, high: int | None) -> int | None:
    return None if low is None or high is None else high - low


@dataclass(frozen=True, slots=True)
class Cell:
    """One queue as one group has it: the owner's hue (from 1) and the lag's level.

    A queue that is owned twice has no hue, and "×2" for a letter.
    """

    slot: int | None
    letter: str
    owner: str
    lag: int | None
    level: int
    unowned: bool
    hot: bool


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group's line; without `cells` its own document was not there to draw."""

    group: TopicGroup
    cells: Sequence[Cell]


def line_of(
    group: TopicGroup, state: GroupState | None, queues: Sequence[QueueSeen], topic: str
) -> GroupLine:
    """Return a group's line over the queues of a topic."""
    if state is None:
        return GroupLine(group, ())
    slots = {each["client_id"]: each["slot"] for each in state["members"]}
    labels = {each["client_id"]: each["label"] for each in state["members"]}
    known = {
        (each["broker"], each["queue_id"]): each
        for each in state["queues"]
        if each["topic"] == topic
    }
    cells = []
    for queue in queues:
        seen = known.get((queue.broker, queue.queue_id))
        owners = seen["owners"] if seen else []
        slot = slots.get(owners[0]) if len(owners) == 1 else None
        lag = seen["lag"] if seen else None
        unowned = bool(seen and not owners and "owners" not in seen["unknown"])
        cells.append(
            Cell(
                None if slot is None else slot % 12 + 1,
                _mark(owners, slot),
                ", ".join(labels.get(each, each) for each in owners),
                lag,
                sum((lag or 0) >= step for step in LEVELS),
                unowned and bool(slots),
                queue.hot,
            )
        )
    return GroupLine(group, cells)


def _mark(owners: Sequence[str], slot: int | None) -> str:
    if len(owners) > 1:
        return f"×{len(owners)}"
    return "" if slot is None else "ABCDEFGHIJKL"[slot % 12]


@dataclass(frozen=True, slots=True)
class Loss:
    """What goes with one broker: its queues, its part of the traffic, who has it.

    `others` take messages, too; `unsure` are others that would, but are silent now.
    `all_groups` is False where groups may read the topic that are not in `groups`.
    """

    broker: str
    queues: int
    share: float | None
    others: int
    unsure: int
    groups: Sequence[str]
    all_groups: bool


def losses(row: TopicRow) -> list[Loss]:
    """Return who would be hurt if a broker went; groups are those that read now."""
    total = None if row["rate_partial"] else row["rate_in"]
    reading = [each["group"] for each in row["groups"] if each["reads"]]
    listed = row["group_count"] == len(row["groups"])
    told = all(each["reads"] is not None for each in row["groups"])
    found = []
    for name, led in row.get("leaders", {}).items():
        others = [name != each for each, n in row["leaders"].items() if n]
        found.append(
            Loss(
                name,
                led,
                None,
                others.count(True),
                0,
                reading,
                all_groups=listed and told and knows_groups(row),
            )
        )
    if found:
        return found
    for broker in row["brokers"]:
        rate = sum(each or 0 for each in broker["rate"])
        others = [
            each["reason"] is None
            for each in row["brokers"]
            if each["name"] != broker["name"] and each["perm"] & WRITE
        ]
        found.append(
            Loss(
                broker["name"],
                _count(broker),
                rate / total * 100 if total else None,
                others.count(True),
                others.count(False),
                reading,
                all_groups=listed and told and knows_groups(row),
            )
        )
    return found
