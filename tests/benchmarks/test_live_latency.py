"""Which changes count for the latency of a page, on made-up changes and looks."""

from __future__ import annotations

from benchmarks.live_latency import Change, Queues, Shown, latencies, read_shown

ONE: Queues = frozenset({("orders", "broker-a", 0)})
TWO: Queues = ONE | {("orders", "broker-a", 1)}
NONE: Queues = frozenset()


def test_a_change_takes_until_the_first_look_that_shows_it() -> None:
    looks = [Shown(0, {}), Shown(150, {"a": TWO}), Shown(230, {"a": ONE})]
    assert latencies([Change("a", ONE, 100)], looks) == ([130], 0)


def test_a_change_that_was_overtaken_is_left_out() -> None:
    looks = [Shown(0, {}), Shown(300, {"a": TWO})]
    changes = [Change("a", ONE, 100), Change("a", TWO, 200)]
    assert latencies(changes, looks) == ([100], 0)


def test_a_change_that_never_comes_is_counted() -> None:
    assert latencies([Change("a", ONE, 100)], [Shown(0, {})]) == ([], 1)


def test_a_member_without_queues_is_shown_by_its_absence() -> None:
    looks = [Shown(0, {"a": ONE}), Shown(140, {"b": ONE})]
    assert latencies([Change("a", NONE, 100)], looks) == ([40], 0)


def test_changes_before_the_first_look_do_not_count() -> None:
    assert latencies([Change("a", ONE, 5)], [Shown(10, {"a": ONE})]) == ([], 0)


def test_rows_are_read_by_owner() -> None:
    look = read_shown(7, [["orders|broker-a|0", "a"], ["orders|broker-a|1", "a, b"]])
    assert look.owners == {"a": TWO, "b": frozenset({("orders", "broker-a", 1)})}


def test_a_queue_without_owner_belongs_to_nobody() -> None:
    assert read_shown(7, [["orders|broker-a|0", ""]]).owners == {}
