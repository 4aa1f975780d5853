"""Queues sort, print and compare as RocketMQ's do."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from rmqcore.model import MessageQueue, sorted_client_ids, sorted_queues
from tests.rmqcore.allocation.recorded import read_queues, recorded_orders

ORDERS = recorded_orders()


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [row for row in ORDERS if row["kind"] == kind]


def test_all_were_read() -> None:
    assert [len(of_kind(kind)) for kind in ("mq", "cid", "string")] == [60, 60, 3]


@pytest.mark.parametrize("row", of_kind("mq"))
def test_queues_sort_as_in_java(row: dict[str, Any]) -> None:
    given, expected = read_queues(row["in"]), read_queues(row["sorted"])
    assert given is not None
    assert sorted_queues(given) == expected
    assert sorted(given) == expected


@pytest.mark.parametrize("row", of_kind("cid"))
def test_client_ids_sort_as_in_java(row: dict[str, Any]) -> None:
    assert sorted_client_ids(row["in"]) == row["sorted"]


@pytest.mark.parametrize(
    "row", [row for row in of_kind("string") if row["mq"][0]["topic"] is not None]
)
def test_text_form_is_javas(row: dict[str, Any]) -> None:
    queues = read_queues(row["mq"])
    assert queues is not None
    assert str(queues[0]) == row["toString"]


def test_above_the_bmp_comes_before_the_end_of_it() -> None:
    # Java compares UTF-16 units: a rabbit is D83D DC30, below FFEE.
    rabbit, late = "\U0001f430", "\uffee"
    assert sorted([rabbit, late]) == [late, rabbit]
    assert sorted_client_ids([late, rabbit]) == [rabbit, late]
    assert MessageQueue("T", rabbit, 0) < MessageQueue("T", late, 0)


def test_numbers_sort_as_numbers() -> None:
    queues = [MessageQueue("T", "b", number) for number in (10, 9, -1, 100)]
    assert [q.queue_id for q in sorted_queues(queues)] == [-1, 9, 10, 100]


def test_equal_by_value_and_usable_as_key() -> None:
    queue = MessageQueue("T", "b", 1)
    assert queue == MessageQueue("T", "b", 1)
    assert {queue: "x"}[MessageQueue("T", "b", 1)] == "x"
    for other in (
        MessageQueue("U", "b", 1),
        MessageQueue("T", "c", 1),
        MessageQueue("T", "b", 2),
        "MessageQueue [topic=T, brokerName=b, queueId=1]",
    ):
        assert queue != other


def test_only_queues_compare() -> None:
    with pytest.raises(TypeError):
        _ = MessageQueue("T", "b", 1) < "T"  # type: ignore[operator]


def test_nothing_can_be_changed() -> None:
    queue = MessageQueue("T", "b", 1)
    with pytest.raises(AttributeError, match="cannot set queue_id"):
        queue.queue_id = 2
    with pytest.raises(AttributeError, match="cannot delete topic"):
        del queue.topic
    assert queue == MessageQueue("T", "b", 1)


def test_survives_pickling() -> None:
    queue = MessageQueue("T", "b", 1)
    assert pickle.loads(pickle.dumps(queue)) == queue


def test_repr_makes_it_again() -> None:
    queue = MessageQueue("T", "b-1", 3)
    assert eval(repr(queue)) == queue
