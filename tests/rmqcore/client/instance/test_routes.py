"""Routes: what is known of topics and brokers, and what is forgotten."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rmqcore.client.instance.routes import RouteTable
from rmqcore.errors import RouteError
from rmqcore.model import (
    BrokerData,
    MessageQueue,
    Perm,
    QueueData,
    TopicQueueMapping,
    TopicRoute,
)

RW = Perm.READ | Perm.WRITE


def route(*brokers: str, queues: int = 2, slave: bool = False) -> TopicRoute:
    return TopicRoute(
        tuple(
            BrokerData("C", name, {1: f"{name}:2"} if slave else {0: f"{name}:1"})
            for name in brokers
        ),
        tuple(QueueData(name, queues, queues, RW) for name in brokers),
    )


@pytest.fixture
def table() -> RouteTable:
    made = RouteTable()
    made.update("T", route("a", "b"))
    return made


def test_an_unknown_topic_has_no_queues() -> None:
    table = RouteTable()
    assert not table.known("T")
    assert table.subscribe_queues("T") is None
    assert table.publish_queues("T") == []
    assert table.brokers_of("T") == ()


def test_queues_of_a_known_topic(table: RouteTable) -> None:
    expected = [MessageQueue("T", b, n) for b in ("a", "b") for n in (0, 1)]
    assert table.known("T")
    assert table.subscribe_queues("T") == table.publish_queues("T") == expected
    assert [broker.broker_name for broker in table.brokers_of("T")] == ["a", "b"]
    assert list(table.publish_topics()) == ["T"]


def test_an_equal_route_changes_nothing(table: RouteTable) -> None:
    assert not table.update("T", route("a", "b"))
    assert table.update("T", route("a", "b", queues=3))


def test_a_broker_that_left_every_route_is_forgotten(table: RouteTable) -> None:
    table.update("U", route("b"))
    table.update("T", route("a"))
    assert {broker.broker_name for broker in table.brokers} == {"a", "b"}
    table.update("U", route("a"))
    assert {broker.broker_name for broker in table.brokers} == {"a"}
    with pytest.raises(RouteError, match="broker b"):
        table.master(MessageQueue("T", "b", 0))


def test_a_topic_to_be_created_goes_where_the_default_lives() -> None:
    table = RouteTable()
    table.publish_like("new", route("a", queues=8), limit=4)
    assert table.publish_queues("new") == [
        MessageQueue("new", "a", n) for n in range(4)
    ]
    assert not table.known("new")
    assert table.master(MessageQueue("T", "a", 0)) == "a:1"
    table.update("new", route("b"))
    assert {broker.broker_name for broker in table.brokers} == {"b"}


def test_addresses_by_broker_id(table: RouteTable) -> None:
    table.update("S", route("s", slave=True))
    a, s = MessageQueue("T", "a", 0), MessageQueue("S", "s", 0)
    assert table.address(a) == table.address(a, 1) == "a:1"
    assert table.address(s) == "s:2"
    with pytest.raises(RouteError, match="no master"):
        table.master(s)
    with pytest.raises(RouteError, match="no address"):
        table.address(MessageQueue("T", "nobody", 0))


def test_a_logical_queue_is_asked_of_its_leader(table: RouteTable) -> None:
    queue = MessageQueue("L", "__syslo__global__", 0)

    def led_by(broker: str) -> TopicRoute:
        mapping = TopicQueueMapping("L", broker, 1, current={0: 3})
        return replace(route("a", "b"), mappings={broker: mapping})

    table.update("L", led_by("a"))
    assert table.subscribe_queues("L") == table.publish_queues("L") == [queue]
    assert (table.broker_name(queue), table.master(queue)) == ("a", "a:1")
    table.update("L", led_by("b"))
    assert (table.broker_name(queue), table.address(queue)) == ("b", "b:1")
    table.update("L", route("a", "b"))
    assert table.broker_name(queue) == queue.broker_name
