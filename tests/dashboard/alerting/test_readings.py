"""What each kind of rule reads of a look, and when it cannot tell."""

from __future__ import annotations

from typing import Any

import pytest

from analytics.holding import Reading
from dashboard.alerting.kinds import ABOUT, Kind
from dashboard.alerting.movement import Movement
from dashboard.alerting.readings import read_broker, read_group

from .seen import broker_at, finding, look_at, rule_of, table_of

HOLDS, BETWEEN = Reading.HOLDS, Reading.BETWEEN
CLEAR, UNKNOWN = Reading.CLEAR, Reading.UNKNOWN


@pytest.mark.parametrize(
    ("kind", "limit", "figures", "expected"),
    [
        ("lag", 100, {"lag": 101}, HOLDS),
        ("lag", 100, {"lag": 100}, CLEAR),
        ("lag", 100, {"lag": 101, "lag_partial": True}, HOLDS),
        ("lag", 100, {"lag": 100, "lag_partial": True}, UNKNOWN),
        ("lag", 100, {"lag": None, "lag_partial": True}, UNKNOWN),
        ("oldest", 5000, {"lag": 9, "oldest_ms": 5001}, HOLDS),
        ("oldest", 5000, {"lag": 9, "oldest_ms": 10, "oldest_partial": True}, UNKNOWN),
        ("oldest", 5000, {"lag": 9, "oldest_ms": None}, UNKNOWN),
        ("oldest", 5000, {"lag": 0, "oldest_ms": None}, CLEAR),
        ("drain", 5000, {"lag": 100, "rate_in": 1.0, "rate_out": 11.0}, HOLDS),
        ("drain", 5000, {"lag": 49, "rate_in": 1.0, "rate_out": 11.0}, CLEAR),
        ("drain", 5000, {"lag": 1, "rate_in": 9.0, "rate_out": 9.0}, HOLDS),
        ("drain", 5000, {"lag": 1, "rate_in": 9.0, "rate_out": None}, UNKNOWN),
        ("drain", 5000, {"lag": 1, "rate_partial": True}, UNKNOWN),
        ("drain", 5000, {"lag": 0, "rate_in": None, "rate_out": None}, CLEAR),
        ("members", 1, {"members": 0}, HOLDS),
        ("members", 1, {"members": 1}, CLEAR),
        ("members", 1, {"members": None}, UNKNOWN),
        ("members", 2, {"members": 1, "complete": False}, UNKNOWN),
        ("members", 2, {"members": 2, "complete": False}, CLEAR),
        ("skew", 4, {"lag": 9, "skew": 4.1}, HOLDS),
        ("skew", 4, {"lag": 9, "skew": None}, UNKNOWN),
        ("skew", 4, {"lag": 0, "skew": None}, CLEAR),
    ],
)
def test_figures_of_a_group(
    kind: str, limit: float, figures: dict[str, Any], expected: Reading
) -> None:
    read = read_group(rule_of(kind, limit), look_at(**figures), Movement())
    assert read.reading is expected


def test_every_kind_can_be_read() -> None:
    for kind, about in ABOUT.items():
        rule = rule_of(kind, about.usual, finding="crit")
        if about.broker:
            assert read_broker(rule, broker_at()).reading is CLEAR
        else:
            assert read_group(rule, look_at(), Movement()).reading in Reading
    assert set(ABOUT) == set(Kind)


def test_a_queue_that_stands_still() -> None:
    rule, movement = rule_of("out_stops", 8000), Movement()
    still = table_of({0: (10, 5), 1: (9, 9)})
    readings = [
        read_group(rule, look_at(at_s, table=still), movement).reading
        for at_s in (0, 8, 9)
    ]
    assert readings == [BETWEEN, BETWEEN, HOLDS]
    loose = table_of({0: (10, None), 1: (9, 9)})
    assert read_group(rule, look_at(12, table=loose), movement).reading is UNKNOWN


def test_what_was_not_watched_from_its_beginning_ends_no_alert() -> None:
    rule, movement = rule_of("out_stops", 8000), Movement()
    for at_s, committed, expected in (
        (0, 5, BETWEEN),
        (1, 5, BETWEEN),
        (2, 6, CLEAR),  # it was seen to move
        (3, 6, CLEAR),
    ):
        look = look_at(at_s, table=table_of({0: (10, committed)}))
        assert read_group(rule, look, movement).reading is expected, at_s
    again = Movement()
    for at_s, end, expected in ((0, 5, CLEAR), (1, 6, CLEAR)):
        look = look_at(at_s, table=table_of({0: (end, 5)}))
        assert read_group(rule, look, again).reading is expected, at_s


def test_no_message_arrives() -> None:
    rule, movement = rule_of("in_stops", 8000), Movement()
    for at_s, end, expected in ((0, 10, BETWEEN), (1, 11, CLEAR), (10, 11, HOLDS)):
        look = look_at(at_s, table=table_of({0: (end, 0)}))
        assert read_group(rule, look, movement).reading is expected


def test_dead_letters_that_come() -> None:
    rule, movement = rule_of("dead_letters", 2, within_ms=60_000), Movement()
    for at_s, total, expected in (
        (0, 10, BETWEEN),
        (10, 12, BETWEEN),
        (20, 13, HOLDS),
        (30, None, UNKNOWN),
        (90, 13, CLEAR),
    ):
        look = look_at(at_s, dead_letters=total)
        assert read_group(rule, look, movement).reading is expected, at_s


@pytest.mark.parametrize(
    ("wanted", "found", "unchecked", "expected"),
    [
        ("stalled", [finding("stalled")], (), HOLDS),
        ("stalled", [finding("hot_queue", "warn")], (), CLEAR),
        ("stalled", [finding("stalled", as_of=5)], (), UNKNOWN),
        ("stalled", [], ("stalled",), UNKNOWN),
        ("stalled", [], ("stopped",), CLEAR),
        ("stalled", [], None, UNKNOWN),
        ("crit", [finding("stalled")], ("stopped",), HOLDS),
        ("crit", [finding("hot_queue", "warn")], (), CLEAR),
        ("crit", [finding("hot_queue", "warn")], ("stopped",), UNKNOWN),
        ("warn", [finding("hot_queue", "warn")], (), HOLDS),
        ("warn", [finding("idle_members", "info")], (), CLEAR),
    ],
)
def test_findings(
    wanted: str, found: list[Any], unchecked: Any, expected: Reading
) -> None:
    look = look_at(findings=found, unchecked=unchecked)
    rule = rule_of("finding", None, finding=wanted)
    assert read_group(rule, look, Movement()).reading is expected


@pytest.mark.parametrize(
    ("condition", "at_s", "expected"),
    [
        ("answered", 500, CLEAR),
        ("partial", 500, CLEAR),
        ("silent", 119, CLEAR),
        ("silent", 121, HOLDS),
        ("missing", 121, HOLDS),
        ("slave", 121, HOLDS),
    ],
)
def test_brokers(condition: str, at_s: int, expected: Reading) -> None:
    look = broker_at(at_s, condition=condition)
    assert read_broker(rule_of("broker", 120_000), look).reading is expected
