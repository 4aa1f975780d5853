"""How long until a broker may delete messages of a topic that a group has not read.

A broker deletes a file of its log once the last message in it is older than
`fileReservedTime`: at the hour of `deleteWhen`, or as soon as the disk is above its
limit. While the disk is nearly full it deletes the oldest files whatever their age. So
no unread message is deleted before the time that is told here, and it may stay longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from dashboard.live.broker_documents import BrokersDocument, BrokerState
from dashboard.live.topic_documents import TopicBroker, TopicRow
from dashboard.wording.numbers import DAY, HOUR, duration
from dashboard.wording.words import word

from .reads import knows_groups

MASTER_ID: Final = 0

NOTHING: Final = frozenset({"nothing_unread", "no_reader"})
"""Reasons that are no lack of knowledge."""

Cause = Literal["age", "disk", "lost"]


@dataclass(frozen=True, slots=True)
class Keeping:
    """How long a broker keeps messages; None where it has not reported it.

    `full_in_ms` is when its disk forces it to delete, where that comes before the age.
    """

    kept_ms: int | None
    delete_when: str
    full_in_ms: int | None


@dataclass(frozen=True, slots=True)
class Retention:
    """The time until unread messages of a topic may be deleted, and the broker's name.

    Without `ms`, `why` is the reason for which it is not known. With `why` beside it,
    less may be left, for that reason.
    """

    ms: int | None = None
    why: str | None = None
    cause: Cause = "age"
    broker: str = ""
    keeping: Keeping | None = None

    @property
    def sure(self) -> bool:
        """Whether the time is known, and no less can be left."""
        return self.ms is not None and self.why is None

    @property
    def sure_ms(self) -> int | None:
        """The time, as far as no less can be left."""
        return self.ms if self.sure else None

    @property
    def soon(self) -> bool:
        """Whether less than a day is left, or a third where less is kept than three."""
        kept = self.keeping.kept_ms if self.keeping else None
        return self.ms is not None and self.ms < min(DAY, (kept or 3 * DAY) / 3)

    @property
    def text(self) -> str:
        """The time in words; "" where nothing is known of it."""
        if self.ms is None:
            return ""
        if self.sure:
            return duration(self.ms)
        return word("retention", "at_most", span=duration(self.ms))

    @property
    def reason(self) -> str:
        """Why the time is not known; with what is known of it."""
        told = word("unknown", self.why or "")
        return told if self.ms is None else f"{self.text}. {told}"

    @property
    def told(self) -> str:
        """What happens at the end of the time."""
        if self.ms is None:
            return ""
        if self.keeping is None or self.cause != "age":
            return word("retention", self.cause, broker=self.broker)
        hour = self.keeping.delete_when
        kept = duration(self.keeping.kept_ms or 0)
        key = "age_at" if hour else "age"
        return word("retention", key, broker=self.broker, kept=kept, hour=hour)


def keepings(document: BrokersDocument | None) -> dict[str, Keeping]:
    """Return how long each broker keeps messages, as its master has reported."""
    states = document["brokers"] if document else []
    return {
        each["name"]: _keeping(each)
        for each in states
        if each["broker_id"] == MASTER_ID
    }


def _keeping(state: BrokerState) -> Keeping:
    hours = state["settings"].get("fileReservedTime", "")
    return Keeping(
        int(hours) * HOUR if hours.isdigit() else None,
        state["settings"].get("deleteWhen", ""),
        state["full_in_ms"],
    )


def retention_of(row: TopicRow, brokers: Mapping[str, Keeping]) -> Retention:
    """Return the shortest time over the brokers of a topic."""
    found = [_on(each, brokers.get(each["name"])) for each in row["brokers"]]
    if not knows_groups(row):
        found.append(Retention(why="groups_unsure"))
    return shortest(found) or Retention(why=_nothing_waits(row))


def shortest(found: Iterable[Retention | None]) -> Retention | None:
    """Return the shortest time; None where it is known that nothing waits.

    It keeps the reason for which one of the others is not known.
    """
    told = [each for each in found if each and each.why not in NOTHING]
    if not told:
        return None
    least = min(told, key=lambda each: math.inf if each.ms is None else each.ms)
    return replace(least, why=next((each.why for each in told if each.why), None))


def _on(broker: TopicBroker, keeping: Keeping | None) -> Retention | None:
    """Return the time on one broker; None where nothing waits there."""
    unread = broker.get("unread")
    if unread is None:
        return Retention(why="not_asked")
    begun = Retention(broker=broker["name"], keeping=keeping)
    if unread["lost"]:
        return replace(begun, ms=0, cause="lost")
    why = (broker["reason"] or "ages_unsure") if unread["partial"] else None
    if not unread["oldest_ms"]:
        return replace(begun, why=why) if why else None
    if keeping is None or keeping.kept_ms is None:
        return replace(begun, why="no_settings")
    left, full = max(0, keeping.kept_ms - unread["oldest_ms"]), keeping.full_in_ms
    if full is not None and full < left:
        return replace(begun, ms=full, why=why, cause="disk")
    return replace(begun, ms=left, why=why)


def _nothing_waits(row: TopicRow) -> str:
    return "nothing_unread" if row["group_count"] else "no_reader"
