"""The JSON document of a snapshot: what `admin snapshot --json` prints.

Unknown values are null, and the map `unknown` beside them gives the reason for each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .columns import Column, Reason
from .snapshot import (
    BrokerSnapshot,
    ClusterSnapshot,
    GroupSnapshot,
    MemberSnapshot,
    NameServerSnapshot,
    Owners,
    QueueTable,
    TopicSnapshot,
)
from .subscription import SubscriptionData

Document = dict[str, Any]

_COLUMNS = ("min", "max", "committed", "pulled", "lag", "lag_ms")
_FROM_RUNNING_INFO = ("strategy", "subscriptions", "orderly", "in_hand")


def document(snapshot: ClusterSnapshot) -> Document:
    """Return the whole snapshot as dicts, lists, strings, numbers and None."""
    return {
        "taken_at": snapshot.taken_at_ms,
        "took_ms": round(snapshot.took_ms, 3),
        "nameserver": snapshot.nameserver,
        "nameservers": [_nameserver(each) for each in snapshot.nameservers],
        "brokers": [_broker(broker) for broker in snapshot.brokers],
        "topics": [_topic(topic) for topic in snapshot.topics.values()],
        "groups": [_group(group) for group in snapshot.groups.values()],
    }


def _nameserver(nameserver: NameServerSnapshot) -> Document:
    return {
        "address": nameserver.address,
        "answered": nameserver.answered,
        "brokers": list(nameserver.brokers),
        "error": nameserver.error,
    }


def _broker(broker: BrokerSnapshot) -> Document:
    return {
        "name": broker.name,
        "cluster": broker.cluster,
        "addresses": {str(number): at for number, at in broker.addresses.items()},
        "answered": broker.answered,
        "stale": broker.stale,
        "asked_address": broker.asked_address,
        "answered_at": broker.answered_at_ms,
        "took_ms": None if broker.took_ms is None else round(broker.took_ms, 3),
        "version": broker.version,
        "missing_since": broker.missing_since_ms,
        "error": broker.error,
    }


def _topic(topic: TopicSnapshot) -> Document:
    return {
        "name": topic.name,
        "kind": topic.kind,
        "queues": [
            _with_unknown(
                {"broker": key[1], "queue_id": key[2]},
                {"min": topic.min, "max": topic.max},
                row,
            )
            for row, key in enumerate(topic.keys)
        ],
    }


def _group(group: GroupSnapshot) -> Document:
    return {
        "name": group.name,
        "kind": group.kind,
        "mode": group.mode,
        "consume_type": group.consume_type,
        "strategy": {"name": group.strategy, "source": group.strategy_source},
        "subscriptions": _subscriptions(group.subscriptions),
        "members": [_member(member) for member in group.members],
        "queues": _rows(
            group.queues,
            group.owners,
            # Given beside reported owners, not beside itself.
            None if group.owners is group.inferred else group.inferred,
        ),
        "retry_queues": _rows(group.retry, None, None),
        "unknown": dict(group.unknown),
    }


def _member(member: MemberSnapshot) -> Document:
    unknown = {
        name: member.reason or Reason.NOT_LISTED
        for name in _FROM_RUNNING_INFO
        if getattr(member, name) is None
    }
    return {
        "client_id": member.client_id,
        "address": member.address,
        "language": member.language,
        "version": member.version,
        "brokers": list(member.brokers),
        "strategy": member.strategy,
        "subscriptions": _subscriptions(member.subscriptions),
        "orderly": member.orderly,
        "in_hand": member.in_hand,
        "started_at": member.started_at_ms,
        "asked_at": member.asked_at_ms,
        "answered_at": member.answered_at_ms,
        "missing_since": member.missing_since_ms,
        "unknown": unknown,
    }


def _subscriptions(
    subscriptions: Iterable[SubscriptionData] | None,
) -> list[Document] | None:
    if subscriptions is None:
        return None
    return [{"topic": s.topic, "expression": s.sub_string} for s in subscriptions]


def _rows(
    table: QueueTable, owners: Owners | None, inferred: Owners | None
) -> list[Document]:
    columns = {name: getattr(table, name) for name in _COLUMNS}
    rows = [
        _with_unknown(
            {"topic": topic, "broker": broker, "queue_id": queue_id}, columns, row
        )
        for row, (topic, broker, queue_id) in enumerate(table.keys)
    ]
    if owners is not None:
        for row, row_document in enumerate(rows):
            _add_owners(row_document, owners, row)
    if inferred is not None and inferred.by_row:
        for row, row_document in enumerate(rows):
            row_document["inferred_owners"] = list(inferred.by_row[row])
    return rows


def _add_owners(row_document: Document, owners: Owners, row: int) -> None:
    if owners.reason is not None:
        row_document["owners"] = row_document["owner_source"] = None
        row_document["unknown"]["owners"] = owners.reason
        return
    row_document["owners"] = list(owners.by_row[row])
    row_document["owner_source"] = owners.sources[row]


def _with_unknown(
    row_document: Document, columns: dict[str, Column], row: int
) -> Document:
    unknown: Document = {}
    for name, column in columns.items():
        row_document[name] = column[row]
        reason = column.reason(row)
        if reason is not None:
            unknown[name] = reason
    row_document["unknown"] = unknown
    return row_document
