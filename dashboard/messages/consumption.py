"""Who has consumed a message: one verdict per group, never better than what is known.

"Consumed" needs a trace that says so. An offset past the message proves little: the
group may have begun later, subscribed otherwise, been moved forward, or given the
message up. Each of these is looked for, and one that is found makes the verdict
"unknown". If none is found the verdict is "passed" and not "consumed", since nothing
tells whether another tool has moved the offset.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from dashboard.gateway.message_facts import Filter, GroupFacts
from rmqcore.model import MessageExt

from .traces import TraceStep


class State(StrEnum):
    """What became of a message in one group, what needs a look first."""

    GIVEN_UP = "given_up"
    NOT_YET = "not_yet"
    UNKNOWN = "unknown"
    PASSED = "passed"
    FILTERED = "filtered"
    CONSUMED = "consumed"


@dataclass(frozen=True, slots=True)
class Watched:
    """What RocketScope itself has seen of a group.

    `since_ms` is when it was first seen with members; `moved_ms` is the last time that
    its offsets were changed from here. Both are ms since the epoch.
    """

    since_ms: int | None = None
    moved_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A state with its reason: a key of `words.REASONS` and its values."""

    group: str
    state: State
    reason: str
    values: Mapping[str, Any] = field(default_factory=dict)


def judge_all(
    message: MessageExt,
    groups: Iterable[GroupFacts],
    steps: Sequence[TraceStep],
    watched: Mapping[str, Watched],
) -> list[Verdict]:
    """Return the verdicts of all groups, those that need a look first."""
    found = [
        judge(message, each, steps, watched.get(each.group, Watched()))
        for each in groups
    ]
    order = list(State)
    return sorted(found, key=lambda each: (order.index(each.state), each.group))


def judge(
    message: MessageExt,
    facts: GroupFacts,
    steps: Sequence[TraceStep],
    watched: Watched,
) -> Verdict:
    """Return what became of a message in one group."""
    return (
        _traced(facts, steps)
        or _untold(facts)
        or _failed(facts)
        or _filtered(message, facts)
        or _waiting(message, facts)
        or _passed(message, facts, watched)
    )


# Private, in the order of the questions


def _traced(facts: GroupFacts, steps: Sequence[TraceStep]) -> Verdict | None:
    for step in steps:
        if step.kind == "consume" and step.group == facts.group and step.success:
            ended = step.at_ms + (step.took_ms or 0)
            return Verdict(
                facts.group,
                State.CONSUMED,
                "traced_by" if step.client else "traced",
                {"time": ended, "client": step.client},
            )
    return None


def _untold(facts: GroupFacts) -> Verdict | None:
    if facts.error:
        return _unknown(facts, "not_answered", error=facts.error)
    if facts.broadcasting:
        return _unknown(facts, "broadcasting")
    if facts.pop:
        return _unknown(facts, "pop")
    return None


def _failed(facts: GroupFacts) -> Verdict | None:
    copies = facts.copies
    if copies is None:
        return None
    if copies.dead:
        return Verdict(facts.group, State.GIVEN_UP, "dead", {"n": copies.retried})
    if copies.waiting or copies.unread:
        tries = copies.retried + copies.waiting
        return Verdict(facts.group, State.NOT_YET, "retries", {"n": tries})
    return None


def _filtered(message: MessageExt, facts: GroupFacts) -> Verdict | None:
    given = facts.filter
    if given is None or given.takes_all:
        return None
    if given.kind != "TAG":
        return _unknown(facts, "expression", expression=given.expression)
    if message.tags in given.tags:
        return None
    is_ahead = facts.committed is not None and facts.committed <= message.queue_offset
    if is_ahead or given.since <= message.store_timestamp:
        return Verdict(
            facts.group, State.FILTERED, "tags", {"expression": given.expression}
        )
    return _unknown(
        facts, "filtered_since", expression=given.expression, time=given.since
    )


def _waiting(message: MessageExt, facts: GroupFacts) -> Verdict | None:
    if facts.committed is None:
        reason = "nothing_committed" if facts.members else "never_here"
        return _unknown(facts, reason)
    if facts.committed > message.queue_offset:
        return None
    before = message.queue_offset - facts.committed
    reason = "before" if facts.members else "before_offline"
    return Verdict(facts.group, State.NOT_YET, reason, {"n": before})


def _passed(message: MessageExt, facts: GroupFacts, watched: Watched) -> Verdict:
    """Judge a group whose offset is past the message."""
    stored = message.store_timestamp
    if facts.copies is None:
        return _unknown(facts, "no_unique_key")
    if facts.copies.retried:
        return Verdict(
            facts.group, State.PASSED, "after_retries", {"n": facts.copies.retried}
        )
    if watched.since_ms is None:
        return _unknown(facts, "not_watched")
    if watched.since_ms > stored:
        return _unknown(facts, "watched_since", time=watched.since_ms)
    if watched.moved_ms is not None and watched.moved_ms >= stored:
        return _unknown(facts, "moved", time=watched.moved_ms)
    if facts.filter is None:
        return _unknown(facts, "nobody_online")
    if facts.filter.since > stored:
        return _unknown(facts, "subscribed_since", time=facts.filter.since)
    return Verdict(facts.group, State.PASSED, "passed")


def _unknown(facts: GroupFacts, reason: str, **values: Any) -> Verdict:
    return Verdict(facts.group, State.UNKNOWN, reason, values)


__all__ = ["Filter", "State", "Verdict", "Watched", "judge", "judge_all"]
