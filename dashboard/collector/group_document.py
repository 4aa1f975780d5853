"""Builds a group's `GroupState` document from what the collector knows of it.

Pure: everything comes in as one `Sight`. Cost: one dict per queue and member, so it is
done only for groups that somebody looks at, or for a few others, not for thousands in
each sweep.

A sum covers what is known now, and is marked where there may be more. What was known
before is shown beside it (`last`) and is part of no sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from dashboard.live.documents import (
    BrokerAge,
    EpochMark,
    FindingState,
    GroupState,
    GroupTotals,
    Held,
    LastKnown,
    Member,
    NameServerState,
    Queue,
    QueueTrend,
    RulesState,
    Status,
    Text,
)
from dashboard.live.numbering import Stamp
from dashboard.wording.names import label_of
from rmqcore.allocation import skew
from rmqcore.model.columns import Column, QueueKey, Reason
from rmqcore.model.snapshot import (
    GroupKind,
    GroupSnapshot,
    MemberSnapshot,
    QueueTable,
)

from .ages import oldest_of
from .ownership import Ownership
from .presence import BrokerState
from .rates import Rates
from .status import Figures, status_of, worst_of

N = TypeVar("N", int, float)

COLUMNS: Final = ("min", "max", "committed", "pulled", "lag", "lag_ms")


@dataclass(frozen=True, slots=True)
class Sight:
    """One group at one moment with the conclusions about it: one set of facts.

    `brokers` are those that the group needs. `last` has the earlier values of queues
    that are not known now. While `held` is set, findings, `status` and epoch are those
    of its `as_of`; otherwise the status is judged from the rest.
    """

    cluster: str
    group: GroupSnapshot
    brokers: Sequence[BrokerState]
    ownership: Ownership
    rates: Rates
    slots: Mapping[str, int]
    moved_at_ms: Mapping[QueueKey, int]
    hosted: Mapping[str, int | None]
    managed: bool
    epoch: EpochMark | None
    last_change: Text | None
    taken_at_ms: int
    findings: Sequence[FindingState] = ()
    past_slots: Mapping[str, int] = field(default_factory=dict)
    last: Mapping[QueueKey, LastKnown] = field(default_factory=dict)
    nameservers: Sequence[NameServerState] = ()
    rules: RulesState | None = None
    trend: QueueTrend | None = None
    held: Held | None = None
    held_status: Status | None = None
    totals: GroupTotals | None = None
    """The sums, where they have been taken already."""
    status: Status | None = None
    """The state, where it has been judged already."""

    @property
    def complete(self) -> bool:
        """True when every broker that the group needs can report on it."""
        return (
            all(broker.whole for broker in self.brokers)
            and "members" not in self.group.unknown
            and all(member.missing_since_ms is None for member in self.group.members)
        )

    def conclude(self) -> None:
        """Take sums and state for all who ask; they follow from the other facts."""
        totals = group_totals(self)
        object.__setattr__(self, "totals", totals)
        object.__setattr__(self, "status", sight_status(self, totals))


def group_document(sight: Sight, stamp: Stamp) -> GroupState:
    """Return the whole document, numbered with `stamp`."""
    group = sight.group
    totals = group_totals(sight)
    read = group.read_topics()
    document: GroupState = {
        "run": stamp.run,
        "seq": stamp.seq,
        "cluster": sight.cluster,
        "group": group.name,
        "taken_at": sight.taken_at_ms,
        "mode": group.mode,
        "kind": group.kind.value,
        "consume_type": group.consume_type,
        "orderly": orderly(group),
        "strategy": {
            "name": group.strategy,
            "source": group.strategy_source.value if group.strategy_source else None,
        },
        "managed": sight.managed,
        "members": _members(sight),
        "queues": [_queue(sight, row, read) for row in range(len(group.queues))],
        "totals": totals,
        "status": sight_status(sight, totals),
        "brokers": [_broker(sight, state) for state in sight.brokers],
        "epoch": sight.epoch,
        "last_change": sight.last_change,
        "findings": list(sight.findings),
        "past_slots": dict(sight.past_slots),
        "complete": sight.complete,
        "held": sight.held,
        "fault": None,
    }
    if sight.rules is not None:
        document["rules"] = sight.rules
    if sight.trend is not None:
        document["trend"] = sight.trend
    if sight.nameservers:
        document["nameservers"] = list(sight.nameservers)
    return document


def group_totals(sight: Sight) -> GroupTotals:
    """Return the sums of a group; unknown where nothing is known."""
    if sight.totals is not None:
        return sight.totals
    table = sight.group.queues
    rows = sight.ownership.rows
    nobody = "members" in sight.group.unknown and not sight.group.members
    unheard = any(broker.unheard(sight.taken_at_ms) for broker in sight.brokers)
    oldest_ms, oldest_partial = oldest_of(table)
    return {
        "members": None if nobody else len(sight.group.members),
        "queues": len(table),
        "queues_known": table.lag.known_rows,
        "owned": sum(bool(row.owners) for row in rows),
        "unowned": sight.ownership.count("unowned"),
        "lag": known_total(table.lag),
        "lag_partial": table.lag_partial or unheard,
        "oldest_ms": oldest_ms,
        "oldest_partial": oldest_partial or unheard,
        "rate_in": rounded(sight.rates.rate_in),
        "rate_out": rounded(sight.rates.rate_out),
        "rate_partial": rate_is_partial(sight.rates),
        "skew": _skew(sight),
        "retry_lag": None
        if sight.group.retry.lag_partial
        else known_total(sight.group.retry.lag),
        "reporting": sight.ownership.reporting,
    }


def sight_status(sight: Sight, totals: GroupTotals) -> Status:
    """Return the state of a group; while it is held, the earlier one."""
    known = sight.held_status or sight.status
    if known is not None:
        return known
    return worst_of(status_of(figures(sight, totals)), sight.findings)


def figures(sight: Sight, totals: GroupTotals) -> Figures:
    """Return the figures that the status rules look at."""
    return Figures(
        kind=sight.group.kind,
        members=totals["members"],
        unowned=totals["unowned"],
        lag=totals["lag"],
        oldest_ms=totals["oldest_ms"],
        rate_in=totals["rate_in"],
        rate_out=totals["rate_out"],
        complete=sight.complete,
    )


def orderly(group: GroupSnapshot) -> bool | None:
    """Return whether members consume orderly; None when no member was asked."""
    known = [member.orderly for member in group.members if member.orderly is not None]
    return any(known) if known else None


def known_total(column: Column) -> int | None:
    """Return the sum of what is known, None when nothing is."""
    return column.total() if column.known_rows else None


def rate_is_partial(rates: Rates) -> bool:
    """Tell whether the rates of some queues are known and those of others are not."""
    if rates.rate_in is None and rates.rate_out is None:
        return False
    return None in rates.rows_in or None in rates.rows_out


def _skew(sight: Sight) -> float | None:
    """Return the skew of the lag that members read, rounded; None where unknown."""
    group = sight.group
    table = group.queues
    if table.lag.complete and not any(table.lag.values):
        return None
    read = group.read_topics()
    rows = [row for row, key in enumerate(table.keys) if read is None or key[0] in read]
    lags = table.lag.values
    found = skew(
        [lags[row] for row in rows]
        if table.lag.complete
        else [table.waiting(row) for row in rows],
        [sight.ownership.rows[row].owners for row in rows],
        [member.client_id for member in group.members],
    )
    return None if found is None else round(found, 2)


def _members(sight: Sight) -> list[Member]:
    """Return a row for each connection, those of one client id counted from 0."""
    times: Counter[str] = Counter()
    rows: list[Member] = []
    for member in sight.group.members:
        rows.append(_member(sight, member, times[member.client_id]))
        times[member.client_id] += 1
    return rows


def _member(sight: Sight, member: MemberSnapshot, connection: int) -> Member:
    mine = [
        row
        for row, owners in enumerate(sight.ownership.rows)
        if member.client_id in owners.owners
    ]
    lags = [sight.group.queues.waiting(row) for row in mine]
    rates = [_row(sight.rates.rows_out, row) for row in mine]
    # Where nothing is said about owners, holding no queues does not mean a sum of 0.
    nothing = not mine and sight.ownership.reason is None
    return {
        "client_id": member.client_id,
        "label": label_of(member.client_id),
        "address": member.address or None,
        "language": member.language or None,
        "version": member.version or None,
        "strategy": member.strategy,
        "subscriptions": [
            {"topic": s.topic, "expression": s.sub_string}
            for s in member.subscriptions or ()
        ],
        "slot": sight.slots[member.client_id],
        "queues": len(mine),
        "idle": None if mine else _idle_reason(sight, member),
        "lag": 0 if nothing else known_sum(lags),
        "lag_partial": None in lags,
        "rate_out": 0.0 if nothing else rounded(known_sum(rates)),
        "rate_partial": None in rates,
        "in_hand": member.in_hand,
        "reported_at": member.answered_at_ms,
        "managed": member.client_id in sight.hosted,
        "busy_since": sight.hosted.get(member.client_id),
        "connection": connection,
        "missing_since": member.missing_since_ms,
    }


def known_sum(values: Sequence[N | None]) -> N | None:
    """Return the sum of what is known, None when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known else None


def _idle_reason(sight: Sight, member: MemberSnapshot) -> str | None:
    group = sight.group
    if group.kind is not GroupKind.OWNED or sight.ownership.reason is not None:
        return None
    topics = {topic for topic, _broker, _queue_id in group.queues.keys}
    own = {subscription.topic for subscription in member.subscriptions or ()}
    if own and topics and not own & topics:
        return "not_subscribed"
    if len(group.members) > len(group.queues):
        return "more_members_than_queues"
    return "no_queues"


def _queue(sight: Sight, row: int, read: frozenset[str] | None) -> Queue:
    table = sight.group.queues
    key = table.keys[row]
    owners = sight.ownership.rows[row]
    unknown = _reasons(table, row)
    if sight.ownership.reason is not None:
        unknown["owners"] = sight.ownership.reason.value
    elif read is not None and key[0] not in read:
        unknown["owners"] = "not_read"
    elif not owners.owners and not sight.ownership.divided:
        unknown["owners"] = Reason.NOT_ASKED.value
    elif not owners.owners and owners.wrong is None and sight.group.members:
        unknown["owners"] = Reason.UNKNOWN_STRATEGY.value
    return {
        "topic": key[0],
        "broker": key[1],
        "queue_id": key[2],
        "min": table.min[row],
        "max": table.max[row],
        "committed": table.committed[row],
        "pulled": table.pulled[row],
        "lag": table.lag[row],
        "lag_ms": table.lag_ms[row],
        "owners": list(owners.owners),
        "owner_source": owners.source,
        "expected": owners.expected,
        "moved_at": sight.moved_at_ms.get(key),
        "rate_in": rounded(_row(sight.rates.rows_in, row)),
        "rate_out": rounded(_row(sight.rates.rows_out, row)),
        "unknown": unknown,
        "last": sight.last.get(key),
    }


def _reasons(table: QueueTable, row: int) -> dict[str, str]:
    columns: Iterable[tuple[str, Column]] = (
        (name, getattr(table, name)) for name in COLUMNS
    )
    return {
        name: reason.value
        for name, column in columns
        if (reason := column.reason(row)) is not None
    }


def _broker(sight: Sight, state: BrokerState) -> BrokerAge:
    answered_ms = state.answered_at_ms
    last = [
        known["lag"]
        for key, known in sight.last.items()
        if key[1] == state.name and known["lag"] is not None
    ]
    return {
        "name": state.name,
        "answered": state.snapshot.answered,
        "age_ms": None
        if answered_ms is None
        else max(0, sight.taken_at_ms - answered_ms),
        "state": state.condition,
        "since": state.since_ms,
        "address": state.snapshot.asked_address,
        "error": state.snapshot.error,
        "queues": sum(key[1] == state.name for key in sight.group.queues.keys),
        "last_lag": sum(last) if last else None,
    }


def _row(rates: tuple[float | None, ...], row: int) -> float | None:
    return rates[row] if rates else None


def rounded(rate: float | None) -> float | None:
    """Return a rate as documents show it, messages per second."""
    return None if rate is None else round(rate, 1)
