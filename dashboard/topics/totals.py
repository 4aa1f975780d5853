"""Sums over all topics of a cluster, whatever the list shows of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dashboard.live.topic_documents import TopicRow

from .reads import is_idle
from .retention import NOTHING, Keeping, Retention, retention_of, shortest

LOOK: Final = frozenset({"crit", "warn"})


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum over what is known, None if nothing is; `partial` says what it lacks.

    It names one topic, or is "" where nothing of the sum is missing.
    """

    value: float | None
    partial: str = ""


@dataclass(frozen=True, slots=True)
class Shortest:
    """The topic whose unread messages may be deleted first; "" if none is known."""

    topic: str
    retention: Retention


@dataclass(frozen=True, slots=True)
class Totals:
    """What the tiles above the list show; RocketMQ's own topics count as `system`."""

    topics: int
    system: int
    look: int
    unsure: int
    no_consumer: int
    rate: Sum
    queues: int
    dead: Sum
    dead_topics: int
    shortest: Shortest | None
    idle: int


def totals_of(
    rows: Sequence[TopicRow],
    brokers: Mapping[str, Keeping],
    now_ms: int,
    *,
    whole: bool = True,
) -> Totals:
    """Return the sums over the topics of a document.

    Where it is not `whole`, a broker that does not answer may have other topics.
    """
    own = [row for row in rows if row["kind"] != "system"]
    dead = [row for row in own if row["kind"] == "dlq"]
    return Totals(
        topics=len(own),
        system=len(rows) - len(own),
        look=sum(row["status"]["level"] in LOOK for row in own),
        unsure=sum(row["status"]["level"] == "unk" for row in own),
        no_consumer=sum(row["status"]["word"] == "no_consumer" for row in own),
        rate=_sum(
            {row["topic"]: row["rate_in"] for row in own},
            [row["topic"] for row in own if row["rate_partial"]],
        ),
        queues=sum(row["queues"] for row in own),
        dead=_sum({row["topic"]: row["held"] for row in dead}),
        dead_topics=sum(bool(row["held"]) for row in dead),
        shortest=_shortest(own, brokers, whole=whole),
        idle=sum(is_idle(row, now_ms) for row in own),
    )


def _sum(values: Mapping[str, float | None], partial: Sequence[str] = ()) -> Sum:
    known = [each for each in values.values() if each is not None]
    lacking = [*partial, *(name for name, each in values.items() if each is None)]
    if values and not known:
        return Sum(None, lacking[0])
    return Sum(sum(known), lacking[0] if lacking else "")


def _shortest(
    rows: Sequence[TopicRow], brokers: Mapping[str, Keeping], *, whole: bool
) -> Shortest | None:
    found = [(row["topic"], retention_of(row, brokers)) for row in rows]
    if not whole:
        found.append(("", Retention(why="no_answer")))
    least = shortest(each for _topic, each in found)
    if least is None:
        return None
    same = (least.ms, least.broker, least.cause)
    topic = next(
        topic
        for topic, each in found
        if (each.ms, each.broker, each.cause) == same and each.why not in NOTHING
    )
    return Shortest(topic, least)
