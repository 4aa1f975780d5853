"""What a group looks like before anything is changed: members, queues, rates, owners.

Read from the collector's `GroupState` document, or empty to start from a blank sheet.
A value that the document does not know stays None here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue, sorted_queues

# Less lag than arrives in so many seconds: the member takes all that arrives.
KEEPS_UP_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class QueueState:
    """A queue, who holds it, and what flows: messages per second, lag in messages."""

    queue: MessageQueue
    owners: tuple[str, ...] = ()
    lag: float | None = None
    rate_in: float | None = None
    rate_out: float | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """A group at one instant; queues in RocketMQ's order, members as listed.

    A client id may be listed twice (behaviour A5b). `member_rate` is the most that a
    member was seen to take, messages per second: what it can take is at least that.
    """

    cluster: str
    group: str
    members: tuple[str, ...] = ()
    queues: tuple[QueueState, ...] = ()
    strategy: str | None = None
    member_rate: float | None = None
    taken_at_ms: int | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics of the queues, in order."""
        return tuple(dict.fromkeys(state.queue.topic for state in self.queues))


def read_situation(document: Mapping[str, Any]) -> Situation:
    """Return the situation that a `GroupState` document describes.

    Raise ArgumentError for a group that is not divided (BROADCASTING, POP, queues
    assigned by hand), and for a document that lacks a field or has a wrong one.
    """
    group = str(document.get("group", ""))
    if document.get("mode") == "BROADCASTING" or document.get("kind") == "broadcasting":
        raise ArgumentError(
            f"group {group} is BROADCASTING: every member has all queues, "
            "so there is nothing to divide"
        )
    if document.get("kind") in ("shared_pop", "assigned_by_hand"):
        raise ArgumentError(
            f"group {group} has no single owners ({document['kind']}): "
            "its members divide nothing among themselves"
        )
    states = {}
    for row in _rows(document, "queues"):
        state = _queue_state(row)
        states[state.queue] = state
    queues = tuple(states[queue] for queue in sorted_queues(states))
    strategy = document.get("strategy") or {}
    return Situation(
        cluster=str(document.get("cluster", "")),
        group=group,
        members=tuple(
            str(_field(row, "client_id", "members"))
            for row in _rows(document, "members")
        ),
        queues=queues,
        strategy=strategy.get("name"),
        member_rate=_highest_rate(document, queues),
        taken_at_ms=document.get("taken_at"),
    )


def _rows(document: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    rows = document.get(name, ())
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise ArgumentError(f"{name} of a group must be a list, got {rows!r}")
    return rows


def _queue_state(row: Mapping[str, Any]) -> QueueState:
    queue_id = _field(row, "queue_id", "queues")
    if isinstance(queue_id, bool) or not isinstance(queue_id, int):
        raise ArgumentError(f"queue_id must be a whole number, got {queue_id!r}")
    return QueueState(
        MessageQueue(
            str(_field(row, "topic", "queues")),
            str(_field(row, "broker", "queues")),
            queue_id,
        ),
        tuple(row.get("owners") or ()),
        number_or_none("lag", row.get("lag")),
        number_or_none("rate_in", row.get("rate_in")),
        number_or_none("rate_out", row.get("rate_out")),
    )


def _field(row: Mapping[str, Any], name: str, table: str) -> Any:
    if name not in row:
        raise ArgumentError(f"a row of {table} lacks {name}")
    return row[name]


def number_or_none(what: str, value: object) -> float | None:
    """Return a finite number that is not negative, or None; refuse anything else."""
    if value is None:
        return None
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    if not usable or not isfinite(value) or value < 0:  # type: ignore[arg-type, operator]
        raise ArgumentError(f"{what} must be finite and not negative, got {value!r}")
    return float(value)  # type: ignore[arg-type]


def _highest_rate(
    document: Mapping[str, Any], queues: Sequence[QueueState]
) -> float | None:
    """Return the most that a member takes; one that keeps up takes what arrives."""
    rates = [
        rate
        for row in _rows(document, "members")
        if (rate := number_or_none("rate_out", row.get("rate_out")))
    ]
    arriving: dict[str, list[QueueState]] = {}
    for state in queues:
        if len(state.owners) == 1:
            arriving.setdefault(state.owners[0], []).append(state)
    for states in arriving.values():
        if any(state.rate_in is None or state.lag is None for state in states):
            continue
        rate = sum(state.rate_in or 0.0 for state in states)
        lag = sum(state.lag or 0.0 for state in states)
        if rate and lag <= rate * KEEPS_UP_S:
            rates.append(rate)
    return max(rates, default=None)
