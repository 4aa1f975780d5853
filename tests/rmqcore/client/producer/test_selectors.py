"""Choosing a queue: in turn, by key as Java does, by room; leaving brokers out."""

from __future__ import annotations

from random import Random

import pytest

from rmqcore.client.producer.faults import BrokerFaults
from rmqcore.client.producer.selectors import (
    RoundRobin,
    by_hash,
    by_machine_room,
    by_random,
)
from rmqcore.errors import RouteError
from rmqcore.model import MessageQueue

QUEUES = [
    MessageQueue("T", broker, number)
    for broker in ("broker-a", "broker-b")
    for number in range(2)
]


def test_every_queue_has_its_turn() -> None:
    turn = RoundRobin(Random(1))
    chosen = [turn.choose(QUEUES) for _ in range(8)]
    assert sorted(chosen) == sorted(QUEUES * 2)
    assert chosen[:4] == chosen[4:]


def test_turns_begin_anywhere() -> None:
    first = {RoundRobin(Random(seed)).choose(QUEUES) for seed in range(40)}
    assert first == set(QUEUES)


def test_a_broker_can_be_avoided() -> None:
    turn = RoundRobin(Random(1))
    chosen = {turn.choose(QUEUES, {"broker-a"}) for _ in range(4)}
    assert chosen == set(QUEUES[2:])


def test_when_all_are_avoided_any_will_do() -> None:
    assert RoundRobin(Random(1)).choose(QUEUES, {"broker-a", "broker-b"}) in QUEUES


def test_without_queues_there_is_no_choice() -> None:
    with pytest.raises(RouteError):
        RoundRobin(Random(1)).choose([])


@pytest.mark.parametrize(
    # Hashes printed by Java: 2112, 646394, -2147483648 and -1655199921.
    ("key", "index"),
    [("Aa", 0), ("中文", 2), ("polygenelubricants", 0), ("abc def ghi", 1)],
)
def test_a_key_chooses_as_in_java(key: str, index: int) -> None:
    assert by_hash(key)(QUEUES) == QUEUES[index]


def test_chance_chooses_any() -> None:
    assert {by_random(Random(seed))(QUEUES) for seed in range(40)} == set(QUEUES)


def test_a_machine_room_is_the_first_part_of_the_broker_name() -> None:
    near = MessageQueue("T", "room1@broker-a", 0)
    assert by_machine_room({"room1"})([*QUEUES, near]) == near
    with pytest.raises(RouteError, match="room2"):
        by_machine_room({"room2"})([*QUEUES, near])


# Latency faults


@pytest.mark.parametrize(
    ("took_ms", "out_ms"),
    [
        (0, 0),
        (549, 0),
        (550, 2_000),
        (1_800, 5_000),
        (3_000, 6_000),
        (5_000, 10_000),
        (15_000, 30_000),
    ],
)
def test_the_slower_a_send_the_longer_its_broker_is_out(
    took_ms: float, out_ms: int
) -> None:
    faults = BrokerFaults()
    faults.report("b", took_ms, 1000)
    assert faults.avoided(["b"], 1000 + out_ms) == set()
    if out_ms:
        assert faults.avoided(["b"], 1000 + out_ms - 1) == {"b"}


def test_a_failure_counts_as_ten_seconds() -> None:
    faults = BrokerFaults()
    faults.report("b", 1, 0, failed=True)
    assert faults.avoided(["b", "c"], 9_999) == {"b"}


def test_a_fast_send_brings_a_broker_back() -> None:
    faults = BrokerFaults()
    faults.report("b", 5_000, 0)
    faults.report("b", 5, 1)
    assert faults.avoided(["b"], 2) == set()
