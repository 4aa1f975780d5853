"""Small snapshots for tests, made of plain numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from rmqcore.model.columns import Column, QueueKey, Reason
from rmqcore.model.route import QueueData
from rmqcore.model.snapshot import (
    EMPTY_TABLE,
    BrokerSnapshot,
    ClusterSnapshot,
    GroupKind,
    GroupSnapshot,
    MemberSnapshot,
    Owners,
    OwnerSource,
    QueueTable,
    StrategySource,
    TopicSnapshot,
    topic_kind,
)
from rmqcore.model.subscription import ConsumeType, MessageModel, SubscriptionData
from rmqcore.model.topic import Perm

Row = int | Reason


def keys_of(topic: str, count: int, broker: str = "broker-a") -> tuple[QueueKey, ...]:
    return tuple((topic, broker, queue_id) for queue_id in range(count))


def table_of(topic: str, committed: Sequence[Row], *, newest: int = 10) -> QueueTable:
    count = len(committed)
    not_asked = Column.unknown(count, Reason.NOT_ASKED)
    return QueueTable(
        keys_of(topic, count),
        Column.of([0] * count),
        Column.of([newest] * count),
        Column.of(committed),
        Column.of([c if isinstance(c, Reason) else newest - c for c in committed]),
        not_asked,
        not_asked,
    )


def topic_of(name: str, queues: int) -> TopicSnapshot:
    return TopicSnapshot(
        name,
        topic_kind(name),
        keys_of(name, queues),
        Column.of([0] * queues),
        Column.of([10] * queues),
        {"broker-a": QueueData("broker-a", queues, queues, Perm.READ | Perm.WRITE)},
    )


def member_of(client_id: str, **changes: Any) -> MemberSnapshot:
    member = MemberSnapshot(
        client_id, "127.0.0.1:5000", "JAVA", "V5_5_0", ("broker-a",)
    )
    return replace(member, **changes)


def group_of(
    name: str,
    committed: Sequence[Row],
    members: Sequence[str] = ("c1",),
    **changes: Any,
) -> GroupSnapshot:
    """Return an online group that consumes topic T, its queues all owned by one."""
    queues = table_of("T", committed)
    owners = Owners(
        tuple((members[0],) for _ in committed),
        (OwnerSource.INFERRED,) * len(committed),
    )
    group = GroupSnapshot(
        name,
        GroupKind.OWNED,
        MessageModel.CLUSTERING,
        ConsumeType.PUSH,
        tuple(map(member_of, members)),
        (SubscriptionData("T"),),
        "AVG",
        StrategySource.ASSUMED,
        queues,
        EMPTY_TABLE,
        owners,
        owners,
    )
    return replace(group, **changes)


def cluster_of(
    groups: Iterable[GroupSnapshot] = (), topics: Iterable[TopicSnapshot] = ()
) -> ClusterSnapshot:
    broker = BrokerSnapshot(
        "broker-a", "C", {0: "127.0.0.1:1"}, answered=True, asked_address="127.0.0.1:1"
    )
    return ClusterSnapshot(
        1_700_000_000_000,
        (broker,),
        {topic.name: topic for topic in topics},
        {group.name: group for group in groups},
    )
