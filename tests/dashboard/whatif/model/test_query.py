"""Scenarios in URLs: there and back, and nothing half understood."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.whatif.model import (
    QueueCount,
    RoomRule,
    Scenario,
    Weighing,
    from_query,
    to_query,
)
from dashboard.whatif.model.query import REPEATED, SINGLE
from dashboard.wording.ranges import from_ranges, to_ranges
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue
from tests.dashboard.whatif.made import queue, queues

words = st.text(
    st.characters(codec="utf-8") | st.sampled_from(":~&=+%#-,"),
    min_size=1,
    max_size=8,
)
rates = st.floats(0, 1e12, allow_nan=False) | st.integers(0, 10**9).map(float)
pairs = st.lists(st.tuples(words, words), max_size=3).map(tuple)
strategies = st.sampled_from(["AVG", "CONFIG", "MACHINE_ROOM_NEARBY-CONSISTENT_HASH"])
listed_queues = st.lists(
    st.builds(MessageQueue, words, words, st.integers(0, 30)), max_size=6
).map(tuple)
scenarios = st.builds(
    Scenario,
    strategy=st.none() | strategies,
    add=st.lists(words, max_size=3).map(tuple),
    remove=st.lists(words, max_size=3).map(tuple),
    rename=pairs,
    queue_counts=st.lists(
        st.builds(QueueCount, words, words, st.integers(0, 30_000)), max_size=3
    ).map(tuple),
    rates=st.lists(st.tuples(words, rates), max_size=3).map(tuple),
    rate_factor=rates,
    member_rate=st.none() | rates,
    virtual_nodes=st.none() | st.integers(0, 1000),
    rooms=st.lists(words, max_size=3).map(tuple),
    inner=st.none() | strategies,
    broker_rooms=st.builds(RoomRule, st.just("") | words, pairs),
    client_rooms=st.builds(RoomRule, st.just("") | words, pairs),
    config=st.lists(st.tuples(words, listed_queues), max_size=3).map(tuple),
    weighing=st.sampled_from(Weighing),
)


@given(scenarios)
def test_there_and_back(scenario: Scenario) -> None:
    assert from_query(to_query(scenario)) == scenario


def test_what_is_at_its_default_is_left_out() -> None:
    assert to_query(Scenario()) == "v=1"
    assert to_query(Scenario(strategy="AVG", rate_factor=1.5)) == "v=1&s=AVG&x=1.5"
    assert from_query("") == Scenario()


def test_lists_are_written_as_ranges() -> None:
    scenario = Scenario(config=(("A", (*queues(6), queue(9))),))
    assert to_query(scenario) == "v=1&g=A%3Aorders%3Abroker-a%3A0-5%2C9"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("v=2", "scenario version '2' is unknown; the known one is '1'"),
        ("s=AVG", "scenario version None is unknown"),
        ("v=1&z=3", "unknown field 'z' with '3'"),
        ("v=1&v=1", "field 'v' of a scenario is given twice"),
        ("v=1&x=1&x=2", "field 'x' of a scenario is given twice: '2'"),
        ("v=1&x=fast", "field 'x' must be a number, got 'fast'"),
        ("v=1&x=nan", "field 'x' must be a number, got 'nan'"),
        ("v=1&x=-2", "rate_factor is -2"),
        ("v=1&k=1e400", "field 'k' must be a number"),
        ("v=1&n=1.5", "field 'n' must be a whole number, got '1.5'"),
        ("v=1&n=-1", "field 'n' must be a whole number"),
        ("v=1&n=9999999999", "field 'n' must be a whole number"),
        ("v=1&n=%D9%A3", "field 'n' must be a whole number"),
        ("v=1&w=luck", "field 'w' must be one of rate, lag, queues, got 'luck'"),
        ("v=1&s=STICKY", "unknown allocation strategy 'STICKY'"),
        ("v=1&m=onlyone", "field 'm' has 1 parts in 'onlyone', it needs 2"),
        ("v=1&q=T:b", "field 'q' has 2 parts in 'T:b', it needs 3"),
        ("v=1&q=T:b:many", "field 'q' must be a whole number, got 'many'"),
        ("v=1&g=A:T:b:5-1", "queue ids '5-1' must rise"),
        ("v=1&g=A:T:b:x", "queue ids must be like 0-5,9, got 'x'"),
        ("v=1&g=A:T:b:0-99999&g=B:T:b:0-9", "name more than 100,000 queues"),
        ("v=1&a=", "a member needs a client id"),
        ("v=1&a=%ff", "is not a query"),
        ("v", "is not a query"),
        ("v=1&a=" + "x" * 60_000, "scenario of 60,006 characters, limit 60,000"),
    ],
)
def test_what_cannot_be_read_is_named(query: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        from_query(query)


def test_every_field_is_documented() -> None:
    page = Path(__file__).parents[4] / "docs" / "allocation.md"
    text = page.read_text(encoding="utf-8")
    link = text[text.index("### The link") : text.index("## Measured")]
    missing = {key for key in SINGLE | REPEATED if f"`{key}`" not in link}
    assert not missing


def test_half_a_character_cannot_be_linked() -> None:
    with pytest.raises(ArgumentError, match="half a character"):
        to_query(Scenario(add=("\ud83d",)))


@given(st.sets(st.integers(0, 99_999), min_size=1))
def test_ranges_there_and_back(ids: set[int]) -> None:
    assert from_ranges(to_ranges(ids)) == sorted(ids)


@pytest.mark.parametrize("text", ["", "1,", "-1", "1-", "1-2-3", " 1", "0-999999", "٣"])
def test_what_is_no_range(text: str) -> None:
    with pytest.raises(ArgumentError, match="queue ids"):
        from_ranges(text)


def test_ranges_have_a_limit() -> None:
    assert len(from_ranges("0-99999")) == 100_000
    with pytest.raises(ArgumentError, match="are more than 100,000"):
        from_ranges("0-99999,0-99999")
