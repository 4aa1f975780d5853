"""What the pages of one group show, worked out from its document.

`queues.js`, `members.js` and `tiles.js` of `static/js/groups` do the same for updates;
the state of a queue is decided by `queue_status` here and `queueStatus` there, by one
list of examples, `tests/dashboard/groups/queue_status.json`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from dashboard.live.documents import (
    GroupState,
    LastKnown,
    Level,
    Member,
    OwnerSource,
    Queue,
)

# Below this many messages nobody is falling behind: 1 against 5 is not an alarm.
LAG_FLOOR: Final = 100
RATE_FLOOR: Final = 1.0
RATE_MARGIN: Final = 0.05
UNMEASURED: Final = ("broadcasting", "mixed")
"""Kinds of groups whose progress the broker does not know."""
_COLUMNS: Final = ("lag", "lag_ms", "rate_in", "rate_out", "pulled", "owners")
_WORST: Final = {"crit": 0, "warn": 1, "unk": 2, "ok": 3}


@dataclass(frozen=True, slots=True)
class Holder:
    """An owner of a queue as the table shows it; `slot` is None for one gone."""

    client_id: str
    label: str
    slot: int | None


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """How a queue fares, in one word, and how bad that is."""

    level: Level
    word: str


@dataclass(frozen=True, slots=True)
class Drain:
    """When the lag is gone: now, after a span, never, or it neither grows nor shrinks.

    Unknown has a reason, a span its milliseconds.
    """

    kind: Literal["now", "span", "steady", "never", "unknown"]
    ms: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One row of the queue table; `moved_ms` is how long ago the queue moved.

    `last` is what the queue said before, where nothing is known of it now; holders are
    from then if `holders_old`.
    """

    key: str
    queue: Queue
    status: QueueStatus
    holders: Sequence[Holder]
    holders_old: bool
    source: OwnerSource | None
    expected: Holder | None
    drain: Drain
    moved_ms: int | None
    last: LastKnown | None

    @property
    def lag(self) -> int | None:
        """What is shown as lag: the last known one where none is known now."""
        lag = self.queue["lag"]
        return self.last["lag"] if lag is None and self.last else lag

    @property
    def reasons(self) -> Mapping[str, str | None]:
        """Why a column is a dash, by its name."""
        return {column: reason_of(self.queue, column) for column in _COLUMNS}

    @property
    def source_word(self) -> str:
        """The key of the word that says how the holders are known."""
        source = self.source or "assumed"
        return f"last_{source}" if self.holders_old else source

    @property
    def in_hand(self) -> int | None:
        """Messages pulled and not yet committed."""
        pulled, committed = self.queue["pulled"], self.queue["committed"]
        if pulled is None or committed is None:
            return None
        return max(0, pulled - committed)


@dataclass(frozen=True, slots=True)
class MemberRow:
    """One row of the table of members.

    `connection` is which it is of the `connections` with its client id, from 1.
    `uncounted` is why nobody can say how many queues it has, `unmeasured` why its lag
    is not known; None where they are.
    """

    key: str
    member: Member
    connection: int
    connections: int
    uncounted: str | None
    unmeasured: str | None


def member_rows(state: GroupState) -> list[MemberRow]:
    """Return the members as listed; processes with one client id are rows of each."""
    connections = Counter(member["client_id"] for member in state["members"])
    before: Counter[str] = Counter()
    rows = []
    for member in state["members"]:
        client_id, reason = member["client_id"], _uncounted(state, member)
        before[client_id] += 1
        rows.append(
            MemberRow(
                f"{before[client_id]} {client_id}",
                member,
                before[client_id],
                connections[client_id],
                reason,
                "broadcasting" if state["kind"] == "broadcasting" else reason,
            )
        )
    return rows


def _uncounted(state: GroupState, member: Member) -> str | None:
    if state["kind"] == "assigned_by_hand" and not member.get("reported_at"):
        return "not_asked"
    return {"shared_pop": "shared", "mixed": "mixed"}.get(state["kind"])


def queue_rows(state: GroupState, now_ms: int) -> list[QueueRow]:
    """Return the queues worst first: by state, then by lag, then in their order.

    Those that show an old value come after all others.
    """
    # Of several connections with one client id, the first stands for all.
    members = {member["client_id"]: member for member in reversed(state["members"])}
    rows = [_queue_row(state, queue, members, now_ms) for queue in state["queues"]]
    return sorted(rows, key=_worst_first)


def queue_status(state: GroupState, queue: Queue) -> QueueStatus:
    """Say in one word how a queue fares."""
    if state["kind"] in UNMEASURED:
        return QueueStatus("unk", "not_measured")
    if queue.get("last"):
        return QueueStatus("unk", "stale")
    if queue["lag"] is None:
        return QueueStatus("unk", "unknown")
    if state["kind"] == "offline":
        return QueueStatus("unk", "no_members")
    if state["kind"] == "owned" and queue["owner_source"] and not queue["owners"]:
        return QueueStatus("crit", "no_owner")
    if state["kind"] == "owned" and len(queue["owners"]) > 1:
        return QueueStatus("crit", "owned_twice")
    return _pace(queue)


def reason_of(queue: Queue, column: str) -> str | None:
    """Return the key of the reason why a value of a queue is not known now."""
    unknown = queue["unknown"]
    if column in unknown:
        return unknown[column]
    if queue.get("last"):
        return unknown.get("lag") or unknown.get("max")
    if column == "pulled":
        return unknown.get("committed")
    return "first_sample" if column.startswith("rate_") else None


def drain(queue: Queue) -> Drain:
    """Say how long the lag takes to vanish at the present rates."""
    lag, rate_in, rate_out = queue["lag"], queue["rate_in"], queue["rate_out"]
    if lag is None:
        return Drain("unknown", reason=queue["unknown"].get("lag"))
    if lag < LAG_FLOOR:
        return Drain("now")
    if rate_in is None or rate_out is None:
        return Drain("unknown", reason="first_sample")
    if not rate_out:
        known = bool(queue["owners"])
        return Drain("never") if known else Drain("unknown", reason="no_rate")
    growth = rate_in - rate_out
    if abs(growth) <= max(RATE_FLOOR, rate_in * RATE_MARGIN):
        return Drain("steady")
    return Drain("never") if growth > 0 else Drain("span", lag / -growth * 1000)


def strategy_reporters(state: GroupState) -> int:
    """Count the members that report a strategy themselves."""
    return sum(member["strategy"] is not None for member in state["members"])


def oldest_queue(state: GroupState) -> Queue | None:
    known = [queue for queue in state["queues"] if queue["lag_ms"]]
    return max(known, key=lambda queue: queue["lag_ms"] or 0, default=None)


def idle_members(state: GroupState) -> int:
    return sum(member["idle"] is not None for member in state["members"])


def topics(state: GroupState) -> list[str]:
    return sorted({queue["topic"] for queue in state["queues"]})


def _pace(queue: Queue) -> QueueStatus:
    lag, rate_in, rate_out = queue["lag"] or 0, queue["rate_in"], queue["rate_out"]
    if lag < LAG_FLOOR or rate_in is None or rate_out is None:
        return QueueStatus("ok", "healthy")
    margin = max(RATE_FLOOR, rate_in * RATE_MARGIN)
    if rate_out > rate_in + margin:
        return QueueStatus("ok", "catching_up")
    if rate_out < rate_in - margin:
        return QueueStatus("warn", "falling_behind")
    return QueueStatus("ok", "healthy")


def _queue_row(
    state: GroupState, queue: Queue, members: dict[str, Member], now_ms: int
) -> QueueRow:
    expected, moved_at = queue.get("expected"), queue["moved_at"]
    last = queue.get("last")
    old = last if last and not queue["owners"] and not queue["owner_source"] else None
    known = old or queue
    return QueueRow(
        key=f"{queue['topic']}|{queue['broker']}|{queue['queue_id']}",
        queue=queue,
        status=queue_status(state, queue),
        holders=[_holder(owner, members) for owner in known["owners"]],
        holders_old=old is not None,
        source=known["owner_source"],
        expected=_holder(expected, members) if expected else None,
        drain=drain(queue),
        moved_ms=None if moved_at is None else max(0, now_ms - moved_at),
        last=last,
    )


def _holder(client_id: str, members: dict[str, Member]) -> Holder:
    member = members.get(client_id)
    if member is None:
        return Holder(client_id, client_id, None)
    return Holder(client_id, member["label"], member["slot"])


def _worst_first(row: QueueRow) -> tuple[bool, int, int, str, str, int]:
    """Sort by state and lag; small lags count as none, or rows would dance."""
    queue = row.queue
    lag = row.lag or 0
    return (
        row.last is not None,
        _WORST[row.status.level],
        -lag if lag >= LAG_FLOOR else 0,
        queue["topic"],
        queue["broker"],
        queue["queue_id"],
    )
