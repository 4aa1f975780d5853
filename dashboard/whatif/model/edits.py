"""Applies a scenario to a situation.

Order: members leave, are renamed, join; queue counts change; rates change. Edits that
no longer fit, such as the removal of a member that has left since, are noted and
skipped: a saved scenario stays usable while its group changes.

If the number of a topic's queues changes, the topic keeps its rate and spreads it
evenly: how keys will fall on the new queues is not known. Dropped queues leave their
lag behind, unread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum

from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue, sorted_queues

from .scenario import (
    MEMBER_LIMIT,
    QUEUE_LIMIT,
    QueueCount,
    Scenario,
)
from .situation import QueueState, Situation


@dataclass(frozen=True, slots=True)
class Note:
    """Something a reader of the comparison should know; `code` names the sentence."""

    code: str
    params: tuple[tuple[str, str | float], ...] = ()


@dataclass(frozen=True, slots=True)
class Edited:
    """The situation after the edits, and what was noted on the way."""

    situation: Situation
    notes: tuple[Note, ...]


def apply_edits(situation: Situation, scenario: Scenario) -> Edited:
    """Return the situation as the scenario would have it.

    Raise ArgumentError if the result has more members or queues than allowed.
    """
    notes: list[Note] = []
    members = _edited_members(situation.members, scenario, notes)
    queues = _edited_queues(situation.queues, scenario.queue_counts, notes)
    queues = _edited_rates(queues, scenario, notes)
    for what, count, limit in (
        ("members", len(members), MEMBER_LIMIT),
        ("queues", len(queues), QUEUE_LIMIT),
    ):
        if count > limit:
            raise ArgumentError(f"{count:,} {what}, at most {limit:,} are compared")
    rate = (
        situation.member_rate if scenario.member_rate is None else scenario.member_rate
    )
    renamed = {
        new: situation.reads[old]
        for old, new in scenario.rename
        if old in situation.reads
    }
    changed = replace(
        situation,
        members=tuple(members),
        queues=tuple(queues),
        member_rate=rate,
        reads={**situation.reads, **renamed},
    )
    return Edited(changed, tuple(notes))


def _edited_members(
    present: Sequence[str], scenario: Scenario, notes: list[Note]
) -> list[str]:
    members = list(present)
    for client_id in scenario.remove:
        if client_id in members:
            members.remove(client_id)
        else:
            notes.append(Note("member_not_there", (("client_id", client_id),)))
    for old, new in scenario.rename:
        if old in members:
            members[members.index(old)] = new
        else:
            notes.append(Note("member_not_there", (("client_id", old),)))
    members.extend(scenario.add)
    notes.extend(
        Note("client_id_shared", (("client_id", client_id), ("times", times)))
        for client_id, times in Counter(members).items()
        if times > 1
    )
    return members


def _edited_queues(
    present: Sequence[QueueState], counts: Sequence[QueueCount], notes: list[Note]
) -> list[QueueState]:
    if not counts:
        return list(present)
    known = {state.queue: state for state in present}
    kept = dict(known)
    for each in counts:
        wanted = {
            MessageQueue(each.topic, each.broker_name, queue_id)
            for queue_id in range(each.count)
        }
        for queue in known:
            place = (queue.topic, queue.broker_name)
            if place == (each.topic, each.broker_name) and queue not in wanted:
                kept.pop(queue, None)
        for queue in wanted:
            kept.setdefault(queue, QueueState(queue, lag=0.0))
    gone = [state for queue, state in known.items() if queue not in kept]
    if gone:
        notes.append(_left_behind(gone))
    resized = {queue.topic for queue in known.keys() ^ kept.keys()}
    rates = {topic: _topic_rate(present, topic) for topic in resized}
    sizes = Counter(queue.topic for queue in kept)
    return [
        replace(kept[queue], rate_in=_share(rates[queue.topic], sizes[queue.topic]))
        if queue.topic in resized
        else kept[queue]
        for queue in sorted_queues(kept)
    ]


def _left_behind(gone: Sequence[QueueState]) -> Note:
    """Return the note on dropped queues, by how much of their lag is known."""
    lags = [state.lag for state in gone if state.lag is not None]
    queues = ("queues", len(gone))
    if not lags:
        return Note("lag_left_behind_unknown", (queues,))
    code = "lag_left_behind" if len(lags) == len(gone) else "lag_left_behind_partly"
    return Note(code, (queues, ("lag", round(fsum(lags)))))


def _edited_rates(
    queues: Sequence[QueueState], scenario: Scenario, notes: list[Note]
) -> list[QueueState]:
    if not scenario.rates and scenario.rate_factor == 1.0:
        return list(queues)
    expected = dict(scenario.rates)
    sizes = Counter(state.queue.topic for state in queues)
    totals = {topic: _topic_rate(queues, topic) for topic in expected}
    notes.extend(
        Note("topic_not_there", (("topic", topic),))
        for topic in expected
        if topic not in sizes
    )
    edited = []
    for state in queues:
        topic = state.queue.topic
        rate = state.rate_in
        if topic in expected:
            total = totals[topic]
            if total and rate is not None:
                rate = rate / total * expected[topic]
            else:
                rate = _share(expected[topic], sizes[topic])
        elif rate is not None:
            rate *= scenario.rate_factor
        # Several times as fast as `replace`.
        edited.append(
            QueueState(
                queue=state.queue,
                owners=state.owners,
                lag=state.lag,
                rate_in=rate,
                rate_out=state.rate_out,
                heard=state.heard,
            )
        )
    return edited


def _topic_rate(queues: Sequence[QueueState], topic: str) -> float | None:
    """Return the rate of a whole topic, or None if a queue's rate is unknown."""
    rates = [state.rate_in for state in queues if state.queue.topic == topic]
    if not rates or None in rates:
        return None
    return fsum(rate for rate in rates if rate is not None)


def _share(rate: float | None, parts: int) -> float | None:
    return None if rate is None else rate / parts
