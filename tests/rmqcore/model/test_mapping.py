"""Static topics: which broker leads a logical queue, and of what pieces it is made."""

from __future__ import annotations

from dataclasses import replace

from rmqcore.model import (
    BrokerData,
    LogicQueueMappingItem,
    MessageQueue,
    TopicQueueMapping,
    TopicRoute,
)
from rmqcore.model.mapping import NOWHERE, is_logical, leaders_of, pieces_of

LOGICAL = "__syslo__global__"
FIRST = LogicQueueMappingItem(0, 3, "a", 0, 0, 40)
SECOND = LogicQueueMappingItem(1, 5, "b", 10_000, 2)


def mapping(
    broker: str,
    current: dict[int, int],
    *,
    total: int = 2,
    epoch: int = 1,
    scope: str = "__global__",
    hosted: dict[int, tuple[LogicQueueMappingItem, ...]] | None = None,
) -> TopicQueueMapping:
    return TopicQueueMapping("T", broker, total, epoch, scope, current, hosted or {})


def test_each_logical_queue_has_the_leader_whose_mapping_is_newest() -> None:
    old = mapping("a", {0: 0, 1: 1}, epoch=1)
    new = mapping("b", {1: 0}, epoch=2)
    expected = {(LOGICAL, 0): "a", (LOGICAL, 1): "b"}
    assert leaders_of([old, new]) == leaders_of([new, old]) == expected


def test_a_queue_that_nobody_leads_is_nowhere() -> None:
    assert leaders_of([mapping("a", {0: 0})])[LOGICAL, 1] == NOWHERE


def test_the_number_of_queues_is_that_of_the_newest_mapping() -> None:
    grown = [mapping("a", {0: 0}, total=1), mapping("b", {1: 0}, total=3, epoch=2)]
    assert list(leaders_of(grown)) == [(LOGICAL, n) for n in range(3)]


def test_scopes_have_queues_of_their_own() -> None:
    both = [mapping("a", {0: 0}, total=1), mapping("b", {0: 0}, total=1, scope="hall")]
    assert leaders_of(both) == {(LOGICAL, 0): "a", ("__syslo__hall", 0): "b"}


def test_producers_and_consumers_of_a_static_topic_see_its_logical_queues() -> None:
    route = TopicRoute(
        (BrokerData("C", "a", {0: "a:1"}),), (), mappings={"a": mapping("a", {0: 7})}
    )
    queues = [MessageQueue("T", LOGICAL, 0), MessageQueue("T", LOGICAL, 1)]
    assert route.subscribe_queues("T") == route.publish_queues("T") == queues
    assert route.leaders("T") == dict(zip(queues, ["a", NOWHERE], strict=True))
    assert all(is_logical(queue.broker_name) for queue in queues)
    assert not is_logical("a")


def test_the_pieces_of_a_queue_are_those_of_the_newest_generation() -> None:
    before = mapping("a", {}, hosted={0: (FIRST,)}, epoch=2)
    after = mapping("b", {0: 5}, hosted={0: (FIRST, SECOND)}, epoch=1)
    expected = {(LOGICAL, 0): (FIRST, SECOND), (LOGICAL, 1): ()}
    assert pieces_of([before, after]) == pieces_of([after, before]) == expected


def test_the_leader_knows_where_its_piece_begins() -> None:
    untold = replace(SECOND, logic_offset=None)
    left = mapping("a", {}, hosted={0: (FIRST, untold)})
    leads = mapping("b", {0: 5}, hosted={0: (FIRST, SECOND)})
    for order in ([left, leads], [leads, left]):
        assert pieces_of(order)[LOGICAL, 0] == (FIRST, SECOND)


def test_offsets_are_converted_as_brokers_do() -> None:
    assert SECOND.logical(2) == 10_000
    assert SECOND.logical(12) == 10_010
    assert SECOND.logical(0) == 10_000
    assert SECOND.physical(10_010) == 12
    undecided = LogicQueueMappingItem(1, 5, "b", None)
    assert undecided.logical(7) is None


def test_an_end_is_decided_once_it_is_behind_the_start() -> None:
    assert FIRST.decided_end == 40
    assert SECOND.decided_end is None
    assert LogicQueueMappingItem(0, 0, "a", 0, 5, 5).decided_end is None
