"""A group before anything is changed: its members, queues, rates and owners.

It is read from the collector's `GroupState` document, or empty to start from a blank
sheet. A value that the document does not know is None here. Queues of a missing broker
are kept with their last owners; what waits in them is not known now. Queues of topics
that no member reads any more are not divided, and are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from sys import float_info
from typing import Any, Final

from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue, sorted_queues

# With less lag than arrives in this many seconds, a member takes all that arrives.
KEEPS_UP_S: Final = 10.0
NOT_READ: Final = "not_read"
"""Why a queue has no owner: no member reads its topic."""
_NUMBERS: Final = (int, float)
ANSWERING: Final = frozenset({"answered", "slave"})


@dataclass(frozen=True, slots=True)
class QueueState:
    """A queue, its owners and its flow: rates in messages per second, lag in messages.

    `heard` is false if it is not known who holds it; if true, no owners means nobody.
    """

    queue: MessageQueue
    owners: tuple[str, ...] = ()
    lag: float | None = None
    rate_in: float | None = None
    rate_out: float | None = None
    heard: bool = True


@dataclass(frozen=True, slots=True)
class Missing:
    """A broker that does not answer everything: its state, and since when."""

    broker: str
    state: str
    since_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """A group at one instant; queues in RocketMQ's order, members as listed.

    A client id may be listed twice (behaviour A5b). `member_rate` is the most that a
    member was seen to take, in messages per second: it can take at least that. `reads`
    has the topics of members that do not read all of them. `complete` is false while a
    broker of the group does not answer; `missing` has those known by name.
    """

    cluster: str
    group: str
    members: tuple[str, ...] = ()
    queues: tuple[QueueState, ...] = ()
    strategy: str | None = None
    member_rate: float | None = None
    taken_at_ms: int | None = None
    reads: Mapping[str, frozenset[str]] = field(default_factory=dict)
    complete: bool = True
    missing: tuple[Missing, ...] = ()

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics of the queues, in order."""
        return tuple(dict.fromkeys(state.queue.topic for state in self.queues))


def read_situation(document: Mapping[str, Any]) -> Situation:
    """Return the situation that a `GroupState` document describes.

    Raise ArgumentError for a group that is not divided (BROADCASTING, POP, mixed,
    queues assigned by hand), and for a document that lacks a field or has a wrong one.
    """
    group = str(document.get("group", ""))
    if document.get("mode") == "BROADCASTING" or document.get("kind") == "broadcasting":
        raise ArgumentError(
            f"group {group} is BROADCASTING: every member has all queues, "
            "so there is nothing to divide"
        )
    if document.get("kind") == "mixed":
        raise ArgumentError(
            f"group {group} is mixed: some members divide the queues and others do "
            "not, so who would get what depends on which of them a broker tells of"
        )
    if document.get("kind") in ("shared_pop", "assigned_by_hand"):
        raise ArgumentError(
            f"group {group} has no single owners ({document['kind']}): "
            "its members divide nothing among themselves"
        )
    states = {}
    for row in _rows(document, "queues"):
        state = _queue_state(row)
        if (row.get("unknown") or {}).get("owners") != NOT_READ:
            states[state.queue] = state
    queues = tuple(states[queue] for queue in sorted_queues(states))
    strategy = document.get("strategy") or {}
    missing = tuple(_missing(document))
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
        reads=_reads(document, {queue.topic for queue in states}),
        complete=bool(document.get("complete", not missing)),
        missing=missing,
    )


def _missing(document: Mapping[str, Any]) -> Iterator[Missing]:
    for row in _rows(document, "brokers"):
        answered = "answered" if row.get("answered", True) else "silent"
        state = str(row.get("state") or answered)
        if state not in ANSWERING:
            yield Missing(str(row.get("name", "")), state, row.get("since"))


def _reads(document: Mapping[str, Any], topics: Set[str]) -> dict[str, frozenset[str]]:
    """Return the topics of members that report them and do not read every topic."""
    reads = {
        str(row["client_id"]): frozenset(
            str(_field(own, "topic", "subscriptions")) for own in row["subscriptions"]
        )
        for row in _rows(document, "members")
        if row.get("subscriptions")
    }
    return {each: own for each, own in reads.items() if not topics <= own}


def _rows(document: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    rows = document.get(name, ())
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise ArgumentError(f"{name} of a group must be a list, got {rows!r}")
    return rows


def _queue_state(row: Mapping[str, Any]) -> QueueState:
    queue_id = _field(row, "queue_id", "queues")
    if isinstance(queue_id, bool) or not isinstance(queue_id, int):
        raise ArgumentError(f"queue_id must be a whole number, got {queue_id!r}")
    last = row.get("last") or {}
    owners = tuple(row.get("owners") or last.get("owners") or ())
    if len(owners) > 1:
        # Two processes of one client id that report a queue are one owner by name.
        owners = tuple(dict.fromkeys(owners))
    why = (row.get("unknown") or {}).get("owners")
    return QueueState(
        MessageQueue(
            str(_field(row, "topic", "queues")),
            str(_field(row, "broker", "queues")),
            queue_id,
        ),
        owners,
        number_or_none("lag", _lag(row)),
        number_or_none("rate_in", row.get("rate_in")),
        number_or_none("rate_out", row.get("rate_out")),
        heard=bool(owners) or not (why or last),
    )


def _lag(row: Mapping[str, Any]) -> object:
    """Return a queue's lag; 0 for an empty queue that was never committed."""
    lag = row.get("lag")
    if lag is None:
        low, high = row.get("min"), row.get("max")
        if low is not None and high is not None and high <= low:
            return 0
    return lag


def _field(row: Mapping[str, Any], name: str, table: str) -> Any:
    if name not in row:
        raise ArgumentError(f"a row of {table} lacks {name}")
    return row[name]


def number_or_none(what: str, value: object) -> float | None:
    """Return a finite, non-negative number, or None; refuse anything else."""
    if value is None:
        return None
    usable = isinstance(value, _NUMBERS) and not isinstance(value, bool)
    if usable and 0 <= value <= float_info.max:  # type: ignore[operator]
        return float(value)  # type: ignore[arg-type]
    raise ArgumentError(f"{what} must be finite and not negative, got {value!r}")


def _highest_rate(
    document: Mapping[str, Any], queues: Sequence[QueueState]
) -> float | None:
    """Return the most that a member takes; one that keeps up takes what arrives.

    A member only counts if the values of all its queues are known: what it takes from
    some of them is less than it can take, and would make a drain seem endless.
    """
    held: dict[str, list[QueueState]] = {}
    for state in queues:
        for owner in state.owners:
            held.setdefault(owner, []).append(state)
    listed = Counter(row["client_id"] for row in _rows(document, "members"))
    rates = []
    for row in _rows(document, "members"):
        rate = number_or_none("rate_out", row.get("rate_out"))
        mine = held.get(row["client_id"], ())
        known = all(state.rate_out is not None for state in mine)
        if rate and known and listed[row["client_id"]] == 1:
            rates.append(rate)
    for owner, states in held.items():
        shared = listed[owner] > 1 or any(len(state.owners) > 1 for state in states)
        unknown = any(state.rate_in is None or state.lag is None for state in states)
        if shared or unknown:
            continue
        rate = sum(state.rate_in or 0.0 for state in states)
        lag = sum(state.lag or 0.0 for state in states)
        if rate and lag <= rate * KEEPS_UP_S:
            rates.append(rate)
    return max(rates, default=None)
