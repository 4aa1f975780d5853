"""Groups as a sweep sees them, made from a few words, for the tests of this room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dashboard.collector.group_document import Sight
from dashboard.collector.ownership import Ownership, OwnershipTracker
from dashboard.collector.presence import Presence, Standing
from dashboard.collector.rates import Rates
from rmqcore.model import (
    ConsumeType,
    MessageModel,
    Perm,
    QueueData,
    SubscriptionData,
)
from rmqcore.model.columns import Column, QueueKey, Reason
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
    TopicKind,
    TopicSnapshot,
)

Number = int | Reason
NOW = 1_700_000_000_000


def keys(count: int, topic: str = "orders", broker: str = "a") -> tuple[QueueKey, ...]:
    return tuple((topic, broker, number) for number in range(count))


def table(
    queues: Sequence[QueueKey],
    *,
    high: Iterable[Number] | None = None,
    committed: Iterable[Number] | None = None,
    lag_ms: Iterable[Number] | None = None,
) -> QueueTable:
    """A table whose queues begin at 0; by default everything is consumed up to 100."""
    highs = list(high) if high is not None else [100] * len(queues)
    commits = list(committed) if committed is not None else [100] * len(queues)
    lags: list[Number] = [
        b if isinstance(b, Reason) else a if isinstance(a, Reason) else max(0, a - b)
        for a, b in zip(highs, commits, strict=True)
    ]
    not_asked = Column.unknown(len(queues), Reason.NOT_ASKED)
    return QueueTable(
        tuple(queues),
        min=Column.of([0] * len(queues)),
        max=Column.of(highs),
        committed=Column.of(commits),
        lag=Column.of(lags),
        pulled=not_asked,
        lag_ms=not_asked if lag_ms is None else Column.of(lag_ms),
    )


def member(
    client_id: str,
    holds: Iterable[QueueKey] | None = None,
    *,
    topics: Sequence[str] | None = None,
    strategy: str | None = None,
    orderly: bool | None = None,
) -> MemberSnapshot:
    """A member; without `holds` it was not asked."""
    return MemberSnapshot(
        client_id,
        address="10.0.0.1:4711",
        language="JAVA",
        version="V5_3_1",
        brokers=("a",),
        queues=None if holds is None else tuple(holds),
        strategy=strategy,
        orderly=orderly,
        subscriptions=None
        if topics is None
        else tuple(SubscriptionData(topic) for topic in topics),
    )


def group(
    queues: QueueTable,
    members: Sequence[MemberSnapshot] = (),
    *,
    expected: Sequence[str] | None = None,
    name: str = "g",
    kind: GroupKind = GroupKind.OWNED,
    reason: Reason | None = None,
    strategy: str | None = "AVG",
    source: StrategySource | None = StrategySource.ASSUMED,
) -> GroupSnapshot:
    inferred = (
        Owners(
            tuple((client,) for client in expected),
            (OwnerSource.INFERRED,) * len(expected),
        )
        if expected is not None
        else Owners(reason=reason or Reason.UNKNOWN_STRATEGY)
    )
    return GroupSnapshot(
        name,
        kind,
        MessageModel.CLUSTERING if members else None,
        ConsumeType.PUSH if members else None,
        tuple(members),
        (),
        strategy,
        source,
        queues,
        EMPTY_TABLE,
        owners=Owners(reason=reason) if reason else inferred,
        inferred=inferred,
    )


def broker(name: str = "a", *, answered: bool = True) -> BrokerSnapshot:
    return BrokerSnapshot(
        name,
        "DefaultCluster",
        {0: "127.0.0.1:10911"},
        answered=answered,
        asked_address="127.0.0.1:10911",
        answered_at_ms=NOW - 200 if answered else None,
        took_ms=4.25,
        version="V5_3_1",
        error=None if answered else "timed out after 3 s",
    )


def standing(*brokers: BrokerSnapshot) -> Standing:
    """How brokers stand at one look, with nothing known of them before."""
    return Presence().take(ClusterSnapshot(NOW, brokers, {}, {}))


def sight(
    seen: GroupSnapshot,
    *,
    ownership: Ownership | None = None,
    rates: Rates | None = None,
    slots: Mapping[str, int] | None = None,
    brokers: Sequence[BrokerSnapshot] | None = None,
    now_ms: int = NOW,
    managed: bool = False,
    hosted: Mapping[str, int | None] | None = None,
) -> Sight:
    ids = [member.client_id for member in seen.members]
    return Sight(
        cluster="east",
        group=seen,
        brokers=standing(*(brokers or (broker(),))).brokers,
        ownership=ownership or OwnershipTracker().judge(seen, now_ms),
        rates=rates or Rates(None, None, (), ()),
        slots=slots or {client_id: place for place, client_id in enumerate(ids)},
        moved_at_ms={},
        hosted=hosted or {},
        managed=managed,
        epoch=None,
        last_change=None,
        taken_at_ms=now_ms,
    )


def cluster(
    *groups: GroupSnapshot, brokers: Sequence[BrokerSnapshot] | None = None
) -> ClusterSnapshot:
    queues = keys(4)
    topic = TopicSnapshot(
        "orders",
        TopicKind.NORMAL,
        queues,
        Column.of([0] * 4),
        Column.of([100] * 4),
        {"a": QueueData("a", 4, 4, Perm.READ | Perm.WRITE)},
    )
    return ClusterSnapshot(
        NOW,
        tuple(brokers) if brokers is not None else (broker(),),
        {"orders": topic},
        {each.name: each for each in groups},
    )
