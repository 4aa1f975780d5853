"""Snapshots of a static topic: its logical queues, wherever their messages are."""

from __future__ import annotations

from typing import Any

import pytest

from rmqcore.admin.tables import decode_topic_listing
from rmqcore.model.columns import Reason
from rmqcore.model.mapping import LogicalPiece, LogicQueueMappingItem, TopicQueueMapping
from rmqcore.model.topic import TopicConfig
from rmqcore.protocol.bodies import (
    DataVersion,
    TopicConfigTable,
    encode_topic_config_table,
)

from .lab import Lab, rows
from .scripted import members_of, running_info, silent

LOGICAL = "__syslo__global__"
KEYS = (("T", LOGICAL, 0), ("T", LOGICAL, 1))

# Queue 0 has moved from queue 0 of broker-a to queue 2 of broker-b; queue 1 has not.
OLD = LogicQueueMappingItem(0, 0, "broker-a", 0)
NEW = LogicQueueMappingItem(1, 2, "broker-b", 10_000)
STAYED = LogicQueueMappingItem(0, 1, "broker-a", 0)


def static(
    broker: str, hosted: dict[int, tuple[LogicQueueMappingItem, ...]]
) -> dict[str, TopicConfig]:
    mapping = TopicQueueMapping("T", broker, 2, epoch=7, hosted=hosted)
    return {"T": TopicConfig("T", mapping=mapping)}


A: dict[str, Any] = {
    "topics": {"T": {0: (4, 40), 1: (0, 9)}},
    "configs": static(
        "broker-a",
        {0: (OLD, LogicQueueMappingItem(1, 2, "broker-b", None)), 1: (STAYED,)},
    ),
}
B: dict[str, Any] = {
    "topics": {"T": {2: (0, 5)}},
    "configs": static("broker-b", {0: (OLD, NEW)}),
}


async def test_rows_are_logical_queues(lab: Lab) -> None:
    await lab.broker("broker-a", **A)
    await lab.broker("broker-b", **B)
    topic = (await lab.take()).topics["T"]
    assert topic.keys == topic.readable() == KEYS
    assert list(topic.min) == [4, 0]
    assert list(topic.max) == [10_005, 9]
    assert topic.pieces == (
        (LogicalPiece(OLD, 4, 40), LogicalPiece(NEW, 0, 5)),
        (LogicalPiece(STAYED, 0, 9),),
    )
    assert topic.is_static
    assert [(each.begin, each.end) for each in topic.pieces[0]] == [
        (0, 40),
        (10_000, 10_005),
    ]
    assert sorted(topic.brokers) == ["broker-a", "broker-b"]


@pytest.mark.parametrize(
    ("on_a", "on_b", "committed", "lag"),
    [
        # In the old piece: what is left there, and all of the new one.
        ({0: 38, 1: 9}, {}, [38, 9], [2 + 5, 0]),
        ({0: 40, 1: 2}, {}, [40, 2], [5, 7]),
        # The newest piece counts, whatever was committed before the move.
        ({0: 38}, {2: 1}, [10_001, Reason.NOTHING_COMMITTED], [4, None]),
        ({}, {2: 5}, [10_005, Reason.NOTHING_COMMITTED], [0, None]),
    ],
)
async def test_progress_counts_messages_and_not_the_gap_between_pieces(
    lab: Lab,
    on_a: dict[int, int],
    on_b: dict[int, int],
    committed: list[int | Reason],
    lag: list[int | None],
) -> None:
    await lab.broker("broker-a", **A, committed={"T@G": on_a})
    await lab.broker("broker-b", **B, committed={"T@G": on_b})
    first = await lab.take()
    queues = first.groups["G"].queues
    assert queues.keys == KEYS
    assert rows(queues, "committed") == committed
    assert list(queues.lag) == lag
    again = await lab.take(previous=first)
    assert again.groups["G"] is first.groups["G"]


async def test_other_topics_of_the_group_keep_their_lag(lab: Lab) -> None:
    a = A | {"topics": A["topics"] | {"S": {0: (0, 9)}, "U": {0: (0, 8)}}}
    b = B | {"topics": B["topics"] | {"U": {0: (0, 7)}}}
    committed = {"S@G": {0: 4}, "T@G": {0: 38, 1: 9}, "U@G": {0: 6}}
    await lab.broker("broker-a", **a, committed=committed)
    await lab.broker("broker-b", **b)
    queues = (await lab.take()).groups["G"].queues
    assert [key[:2] for key in queues.keys] == [
        ("S", "broker-a"),
        ("T", LOGICAL),
        ("T", LOGICAL),
        ("U", "broker-a"),
        ("U", "broker-b"),
    ]
    assert list(queues.lag) == [5, 7, 0, 2, None]


async def test_owners_are_those_that_members_report_and_strategies_give(
    lab: Lab,
) -> None:
    where = {
        "members": {"G": members_of("c1", "c2")},
        "committed": {"T@G": {0: 1, 1: 1}},
        "running": {"c1": running_info(KEYS[0]), "c2": running_info(KEYS[1])},
    }
    await lab.broker("broker-a", **A, **where)
    await lab.broker("broker-b", **B)
    group = (await lab.take(running_info=True)).groups["G"]
    assert group.owners.by_row == group.inferred.by_row == (("c1",), ("c2",))


async def test_what_a_silent_broker_would_tell_is_unknown(lab: Lab) -> None:
    await lab.broker("broker-a", **A, committed={"T@G": {0: 38, 1: 9}})
    silenced = await lab.broker("broker-b", **B)
    before = await lab.take()
    silenced.fault_everywhere(silent)
    after = await lab.take(previous=before)
    topic, queues = after.topics["T"], after.groups["G"].queues
    assert topic.keys == queues.keys == KEYS
    assert rows(queues, "max") == [Reason.NO_ANSWER, 9]
    assert rows(queues, "min") == [4, 0]
    assert rows(queues, "committed") == [Reason.NO_ANSWER, 9]
    assert rows(queues, "lag") == [Reason.NO_ANSWER, 0]


async def test_a_queue_that_nobody_has_is_not_listed(lab: Lab) -> None:
    untold = LogicQueueMappingItem(0, 0, "broker-a", None)
    await lab.broker(
        topics={"T": {0: (0, 3)}},
        configs=static("broker-a", {0: (untold,)}),
        committed={"T@G": {0: 1}},
    )
    snapshot = await lab.take(time_lag=True, pulled=True)
    queues = snapshot.groups["G"].queues
    assert queues.keys == KEYS
    assert rows(queues, "max") == rows(queues, "min") == [Reason.NOT_LISTED] * 2
    unknown = [Reason.NOT_LISTED, Reason.NOTHING_COMMITTED]
    assert rows(queues, "committed") == rows(queues, "lag") == unknown


async def test_times_are_told_of_physical_queues_only(lab: Lab) -> None:
    await lab.broker("broker-a", **A, committed={"T@G": {0: 38, 1: 9}})
    await lab.broker("broker-b", **B)
    queues = (await lab.take(time_lag=True, pulled=True)).groups["G"].queues
    assert rows(queues, "lag_ms") == [Reason.NOT_LISTED, 0]
    assert rows(queues, "pulled") == [Reason.NOT_LISTED] * 2


def test_a_listing_with_mappings_is_asked_for_again_only_when_it_changes() -> None:
    topics = static("broker-a", {0: (OLD, NEW)})
    body = encode_topic_config_table(TopicConfigTable(topics, DataVersion(3, 2, 1)))
    body = body[:-1] + b',"mappingDataVersion":{"counter":9}}'
    listing = decode_topic_listing(body, "broker-a")
    assert listing.version == '{"counter":3,"stateVersion":2,"timestamp":1}'
    assert listing.mapping_version == '{"counter":9}'
    assert listing.mappings["T"].hosted == {0: (OLD, NEW)}
    general = decode_topic_listing(body.replace(b'"T"', b"'T'"), "broker-a")
    assert general.mappings == listing.mappings
