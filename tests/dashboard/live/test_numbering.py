from __future__ import annotations

from random import Random

from dashboard.live.numbering import HANDED_ON, Numbering, Stamp, make_run_id


def test_counts_each_stream_without_gaps() -> None:
    numbering = Numbering("r1")
    assert [numbering.next("c", "g").seq for _ in range(3)] == [1, 2, 3]
    assert numbering.next("c", "other") == Stamp("r1", 1)
    assert numbering.next("c") == Stamp("r1", 1)
    assert numbering.next("c", "g") == Stamp("r1", 4)


def test_current_is_the_last_given_and_zero_before() -> None:
    numbering = Numbering("r1")
    assert numbering.current("c", "g") == Stamp("r1", 0)
    numbering.next("c", "g")
    assert numbering.current("c", "g") == Stamp("r1", 1)


def test_a_forgotten_stream_that_returns_does_not_follow_itself() -> None:
    numbering = Numbering("r1")
    numbering.next("c", "g")
    numbering.next("c", "g")
    numbering.forget("c", "g")
    assert numbering.next("c", "g") == Stamp("r1", 4)
    assert numbering.next("c", "g") == Stamp("r1", 5)


def test_goes_on_after_stored_documents_of_the_same_run() -> None:
    numbering = Numbering("r2")
    assert not numbering.resume("c", "old", Stamp("r1", 9))
    assert numbering.resume("c", "g", Stamp("r2", 9))
    assert numbering.next("c", "g") == Stamp("r2", 10)
    assert numbering.next("c", "old") == Stamp("r2", 1)


def test_a_stream_that_the_next_leader_does_not_know_begins_above_all() -> None:
    before = Numbering("r1")
    for _ in range(7):
        before.next("c", "gone")
    after = Numbering("r1", before.highest + HANDED_ON)
    for _ in range(3):
        before.next("c", "gone")  # after the leader last left word of its numbers
    assert after.next("c", "gone").seq > before.current("c", "gone").seq + 1


def test_nothing_handed_out_yet_is_the_lowest_number() -> None:
    assert Numbering("r1").highest == 1


def test_run_ids_sort_by_time_and_differ_within_a_millisecond() -> None:
    chance = Random(1)
    first, second = (
        make_run_id(1_700_000_000_000, chance),
        make_run_id(1_700_000_000_000, chance),
    )
    assert first != second
    assert make_run_id(1_700_000_000_001, chance) > max(first, second)
