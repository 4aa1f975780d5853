from __future__ import annotations

import json
from dataclasses import replace

import orjson
import pytest

from rmqcore.model.columns import Column, Reason
from rmqcore.model.route import QueueData
from rmqcore.model.snapshot import (
    EMPTY_TABLE,
    Owners,
    OwnerSource,
    QueueTable,
    TopicKind,
    topic_kind,
)
from rmqcore.model.snapshot_document import document as snapshot_document
from rmqcore.model.subscription import SubscriptionData
from rmqcore.model.topic import Perm

from .snapshots import cluster_of, group_of, member_of, table_of, topic_of


def test_topic_kinds_follow_from_the_name() -> None:
    kinds = [topic_kind(name) for name in ("T", "%RETRY%G", "%DLQ%G")]
    assert kinds == [TopicKind.NORMAL, TopicKind.RETRY, TopicKind.DEAD_LETTER]


@pytest.mark.parametrize(
    ("perm", "read", "readable"),
    [(Perm.READ | Perm.WRITE, 2, 2), (Perm.WRITE, 4, 0), (Perm.READ, 4, 4)],
)
def test_readable_queues_are_those_consumers_divide(
    perm: Perm, read: int, readable: int
) -> None:
    brokers = {"broker-a": QueueData("broker-a", read, 4, perm)}
    topic = replace(topic_of("T", 4), brokers=brokers)
    assert topic.readable() == topic.keys[:readable]


def test_a_snapshot_is_complete_when_every_broker_answered() -> None:
    whole = cluster_of()
    silent = replace(whole.brokers[0], answered=False)
    assert whole.complete
    assert not replace(whole, brokers=(silent,)).complete


def test_the_document_has_the_public_members() -> None:
    snapshot = cluster_of([group_of("G", [4])], [topic_of("T", 1)])
    document = json.loads(orjson.dumps(snapshot_document(snapshot)))
    assert document["taken_at"] == 1_700_000_000_000
    (broker,) = document["brokers"]
    assert broker["name"] == "broker-a"
    assert broker["cluster"] == "C"
    assert broker["addresses"] == {"0": "127.0.0.1:1"}
    assert broker["answered"] is True
    (topic,) = document["topics"]
    assert topic["name"] == "T"
    assert topic["queues"] == [
        {"broker": "broker-a", "queue_id": 0, "min": 0, "max": 10, "unknown": {}}
    ]
    (group,) = document["groups"]
    assert (group["name"], group["mode"]) == ("G", "CLUSTERING")
    assert group["queues"] == [
        {
            "topic": "T",
            "broker": "broker-a",
            "queue_id": 0,
            "min": 0,
            "max": 10,
            "committed": 4,
            "pulled": None,
            "lag": 6,
            "lag_ms": None,
            "owners": ["c1"],
            "owner_source": "inferred",
            "unknown": {"pulled": "not_asked", "lag_ms": "not_asked"},
        }
    ]


def test_what_only_running_info_tells_is_null_until_asked() -> None:
    document = snapshot_document(cluster_of([group_of("G", [1])]))
    (member,) = document["groups"][0]["members"]
    assert member["client_id"] == "c1"
    assert (member["address"], member["language"]) == ("127.0.0.1:5000", "JAVA")
    for name in ("strategy", "subscriptions", "orderly", "in_hand"):
        assert member[name] is None
        assert member["unknown"][name] == "not_asked"


def test_a_member_that_reported_has_nothing_unknown() -> None:
    member = member_of(
        "c1",
        strategy="AVG",
        subscriptions=(SubscriptionData("T", "red"),),
        orderly=False,
        in_hand=3,
        reason=None,
    )
    document = snapshot_document(cluster_of([group_of("G", [1], members=("c1",))]))
    group = replace(group_of("G", [1]), members=(member,))
    (document,) = snapshot_document(cluster_of([group]))["groups"][0]["members"]
    assert document["subscriptions"] == [{"topic": "T", "expression": "red"}]
    assert document["unknown"] == {}


def test_inferred_owners_stand_beside_reported_ones() -> None:
    group = group_of("G", [1])
    reported = Owners((("c9",),), (OwnerSource.REPORTED,))
    (row,) = snapshot_document(cluster_of([replace(group, owners=reported)]))["groups"][
        0
    ]["queues"]
    assert (row["owners"], row["owner_source"]) == (["c9"], "reported")
    assert row["inferred_owners"] == ["c1"]


def test_unknown_owners_are_null_with_the_reason() -> None:
    group = replace(
        group_of("G", [1]),
        owners=Owners(reason=Reason.SHARED),
        inferred=Owners(reason=Reason.SHARED),
    )
    (row,) = snapshot_document(cluster_of([group]))["groups"][0]["queues"]
    assert row["owners"] is None
    assert row["owner_source"] is None
    assert row["unknown"]["owners"] == "shared"


def test_the_retry_topic_is_counted_apart() -> None:
    group = replace(group_of("G", [1]), retry=table_of("%RETRY%G", [3]))
    document = snapshot_document(cluster_of([group]))["groups"][0]
    assert [row["topic"] for row in document["queues"]] == ["T"]
    assert [row["lag"] for row in document["retry_queues"]] == [7]


def test_an_empty_table_has_empty_columns() -> None:
    assert len(EMPTY_TABLE) == 0
    assert list(EMPTY_TABLE.lag) == []
    assert Column.of([]) == EMPTY_TABLE.min


def test_what_waits_in_a_queue_that_was_never_committed() -> None:
    never, silent = Reason.NOTHING_COMMITTED, Reason.NO_ANSWER
    blank = Column.unknown(4, Reason.NOT_ASKED)
    table = QueueTable(
        tuple(("T", "a", number) for number in range(4)),
        min=Column.of([0, 7, 3, silent]),
        max=Column.of([9, 7, 7, silent]),
        committed=Column.of([4, never, never, 4]),
        lag=Column.of([5, never, never, silent]),
        pulled=blank,
        lag_ms=blank,
    )
    assert [table.waiting(row) for row in range(4)] == [5, 0, None, None]
    assert table.lag_partial
    assert not EMPTY_TABLE.lag_partial
