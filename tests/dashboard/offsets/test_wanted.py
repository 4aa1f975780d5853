"""Addresses that say where a group's offsets are to go."""

from __future__ import annotations

import pytest

from dashboard.offsets.asked import pinned, preset_of
from dashboard.offsets.wanted import MOST_QUEUES, Wanted
from rmqcore.errors import ArgumentError


@pytest.mark.parametrize(
    "query",
    [
        "to=time&topic=orders&at=1780000000000",
        "to=earliest&topic=orders",
        "to=latest&topic=orders&queue=a%2F0&queue=b%2F1",
        "to=offset&topic=orders&o.a%2F0=12&o.b%2F1=0",
        "to=group&topic=%25RETRY%25g&from=billing",
        "to=undo&topic=orders&of=7",
    ],
)
def test_an_address_is_read_and_written_alike(query: str) -> None:
    assert Wanted.from_query(query).query == query


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("to=moon&topic=t", "to is 'moon'"),
        ("to=latest", "topic has 0 characters"),
        ("to=time&topic=t&at=253402300799999", "at is '253402300799999'"),
        ("to=time&topic=t&at=yesterday", "at is 'yesterday'"),
        ("to=time&topic=t&at=999999999999999", "at is '999999999999999', 0 to"),
        ("to=offset&topic=t&o.a/0=-1", "a/0 is '-1'"),
        ("to=offset&topic=t&o.a=1", "queue is 'a', it must be BROKER/ID"),
        ("to=group&topic=t&from=", "from has 0 characters"),
        ("to=undo&topic=t", "of is ''"),
    ],
)
def test_what_is_wrong_is_named(query: str, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        Wanted.from_query(query)


def test_the_number_of_queues_is_bounded() -> None:
    queues = "&".join(f"queue=a/{n}" for n in range(MOST_QUEUES + 1))
    with pytest.raises(ArgumentError, match="2001 queues, limit 2000"):
        Wanted.from_query(f"to=latest&topic=t&{queues}")


def test_a_span_of_time_becomes_a_moment_that_stays() -> None:
    query = pinned("to=time&topic=t&ago=600", now_ms=1_780_000_600_000)
    assert query == "to=time&topic=t&at=1780000000000"
    assert pinned(query, now_ms=1_790_000_000_000) == query


def test_a_local_time_is_read_in_the_readers_zone(settings: object) -> None:
    query = pinned("to=time&topic=t&at=2026-11-22T11%3A40%3A00%2B08%3A00")
    assert query == "to=time&topic=t&at=1795318800000"


def test_a_time_that_cannot_be_read_is_left_for_the_page_to_refuse() -> None:
    query = "to=time&topic=t&at=soon"
    assert pinned(query) == query


def test_back_by_ten_minutes_is_one_button() -> None:
    assert preset_of("t")[0].query == "to=time&topic=t&ago=600"
    assert not preset_of("")


def test_a_span_of_many_digits_is_no_span() -> None:
    query = f"to=time&topic=t&ago={'9' * 5000}"
    assert pinned(query) == query
