"""Whether epochs, events and samples that were written down contradict each other."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from tests.support.database import rows_of

from .truth import Truth

_EPOCHS: Final = """
    select "group", number, members, queues, began_by, ended_by
    from dashboard_epoch order by "group", number
"""
_EVENTS: Final = """
    select "group", topic, broker, queue_id, kind, owners_before, owners_after
    from dashboard_ownershipevent order by at_by, id
"""


@dataclass(frozen=True, slots=True)
class Epoch:
    """One span of a group; times as the database writes them, None where open."""

    group: str
    number: int
    members: frozenset[str]
    queues: frozenset[tuple[str, str, int]]
    began_by: str
    ended_by: str | None


@dataclass(frozen=True, slots=True)
class Event:
    """A queue's owners before and after a change."""

    group: str
    queue: tuple[str, str, int]
    kind: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def read_epochs(database: str | Path) -> list[Epoch]:
    """Return all epochs by group and number."""
    return [
        Epoch(
            group,
            number,
            frozenset(member["client_id"] for member in json.loads(members)),
            frozenset((topic, broker, q) for topic, broker, q in json.loads(queues)),
            began_by,
            ended_by,
        )
        for group, number, members, queues, began_by, ended_by in rows_of(
            database, _EPOCHS
        )
    ]


def read_events(database: str | Path) -> list[Event]:
    """Return all changes of hands in the order of their times."""
    return [
        Event(
            group,
            (topic, broker, queue_id),
            kind,
            tuple(json.loads(before)),
            tuple(json.loads(after)),
        )
        for group, topic, broker, queue_id, kind, before, after in rows_of(
            database, _EVENTS
        )
    ]


def epochs_apart(epochs: Iterable[Epoch], truths: Mapping[str, Truth]) -> Iterator[str]:
    """Yield where epochs contradict each other, or the open one what is true now."""
    by_group: dict[str, list[Epoch]] = defaultdict(list)
    for each in epochs:
        by_group[each.group].append(each)
    for group, found in by_group.items():
        for one, next_one in pairwise(found):
            where = f"{group}: epoch {one.number}"
            if next_one.number != one.number + 1:
                yield f"{where} is followed by {next_one.number}"
            if one.ended_by is None:
                yield f"{where} has not ended, and {next_one.number} has begun"
            elif one.ended_by > next_one.began_by:
                yield f"{where} ended after {next_one.number} had begun"
            if one.ended_by is not None and one.ended_by < one.began_by:
                yield f"{where} ended before it began"
    for group, truth in truths.items():
        last = by_group[group][-1] if by_group[group] else None
        if last is None or last.ended_by is not None:
            yield f"{group}: no epoch runs"
        elif (last.members, last.queues) != (
            truth.members,
            frozenset(truth.owners),
        ):
            yield f"{group}: epoch {last.number} is not of the members there are"


def events_apart(events: Iterable[Event], truths: Mapping[str, Truth]) -> Iterator[str]:
    """Yield where changes of hands do not follow from each other, or from the truth."""
    held: dict[tuple[str, tuple[str, str, int]], tuple[str, ...]] = {}
    for each in events:
        key = each.group, each.queue
        if held.get(key, each.before) != each.before:
            yield (
                f"{each.group} {each.queue}: {each.kind} from {list(each.before)}, "
                f"it was held by {list(held[key])}"
            )
        held[key] = each.after
    for (group, queue), owners in held.items():
        truth = truths.get(group)
        if truth is not None and owners != truth.owners.get(queue):
            yield (
                f"{group} {queue}: last given to {list(owners)}, "
                f"held by {list(truth.owners.get(queue, ()))}"
            )
