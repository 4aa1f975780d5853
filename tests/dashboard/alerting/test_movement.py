"""Since when nothing was committed or arrived, and how many dead letters came."""

from __future__ import annotations

import orjson

from dashboard.alerting.movement import LETTERS_KEPT_MS, MOST_POINTS, Movement

from .seen import table_of

KEY = ("orders", "broker-a", 0)


def test_a_queue_stands_still_from_the_look_that_first_showed_its_offset() -> None:
    movement = Movement()
    for at_ms, committed in ((1000, 5), (2000, 6), (3000, 6), (9000, 6)):
        movement.take_commits(table_of({0: (10, committed)}), at_ms)
    assert movement.still == {KEY: 7000}


def test_a_queue_with_nothing_waiting_does_not_stand_still() -> None:
    movement = Movement()
    movement.take_commits(table_of({0: (6, 6)}), 1000)
    movement.take_commits(table_of({0: (6, 6)}), 9000)
    assert movement.still == {}
    movement.take_commits(table_of({0: (7, 6)}), 10_000)
    assert movement.still == {KEY: 0}


def test_while_an_offset_is_not_known_nothing_is_said_and_nothing_forgotten() -> None:
    movement = Movement()
    movement.take_commits(table_of({0: (10, 5)}), 1000)
    movement.take_commits(table_of({0: (10, None)}), 5000)
    assert movement.still == {}
    assert movement.loose
    movement.take_commits(table_of({0: (10, 5)}), 9000)
    assert movement.still == {KEY: 8000}
    assert not movement.loose


def test_no_arrival_counts_before_one_was_seen() -> None:
    movement = Movement()
    assert movement.take_arrivals(table_of({0: (10, 0)}), 1000) == 0
    assert movement.take_arrivals(table_of({0: (10, 0)}), 9000) == 0
    assert movement.take_arrivals(table_of({0: (11, 0)}), 10_000) == 0
    assert movement.take_arrivals(table_of({0: (11, 0)}), 15_000) == 5000


def test_dead_letters_within_a_span() -> None:
    movement = Movement()
    for at_ms, total in ((0, 100), (10_000, 100), (20_000, 103), (30_000, 104)):
        movement.take_letters(total, at_ms)
    assert movement.letters_since(0) == 4
    assert movement.letters_since(20_000) == 1
    assert movement.letters_since(30_000) == 0
    movement.take_letters(None, 40_000)
    assert movement.letters_since(0) is None


def test_a_topic_of_dead_letters_that_was_deleted_begins_anew() -> None:
    movement = Movement()
    movement.take_letters(50, 0)
    movement.take_letters(2, 10_000)
    movement.take_letters(3, 20_000)
    assert movement.letters_since(0) == 1


def test_points_of_dead_letters_are_bounded() -> None:
    movement = Movement()
    for second in range(3 * MOST_POINTS):
        movement.take_letters(second, second * 1000)
    assert len(movement.dump()["letters"]) <= MOST_POINTS
    assert movement.letters_since(0) == 3 * MOST_POINTS - 1
    late_ms = LETTERS_KEPT_MS * 2
    movement.take_letters(3 * MOST_POINTS, late_ms)
    assert len(movement.dump()["letters"]) == 2


def test_the_memory_is_handed_on() -> None:
    movement = Movement()
    movement.take_commits(table_of({0: (10, 5), 1: (4, 4)}), 1000)
    movement.take_commits(table_of({0: (10, 5), 1: (4, 4)}), 4000)
    movement.take_arrivals(table_of({0: (9, 0)}), 1000)
    movement.take_arrivals(table_of({0: (10, 0)}), 4000)
    movement.take_letters(7, 4000)
    next_one = Movement(orjson.loads(orjson.dumps(movement.dump())))
    next_one.take_commits(table_of({0: (10, 5), 1: (4, 4)}), 6000)
    assert next_one.still == {KEY: 5000}
    assert next_one.take_arrivals(table_of({0: (10, 0)}), 6000) == 2000
    next_one.take_letters(9, 6000)
    assert next_one.letters_since(4000) == 2
