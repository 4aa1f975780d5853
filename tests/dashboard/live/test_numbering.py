from __future__ import annotations

from random import Random

from dashboard.live.numbering import Numbering, Stamp, make_run_id


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


def test_a_forgotten_stream_starts_again() -> None:
    numbering = Numbering("r1")
    numbering.next("c", "g")
    numbering.next("c", "g")
    numbering.forget("c", "g")
    assert numbering.next("c", "g") == Stamp("r1", 1)


def test_run_ids_sort_by_time_and_differ_within_a_millisecond() -> None:
    chance = Random(1)
    first, second = (
        make_run_id(1_700_000_000_000, chance),
        make_run_id(1_700_000_000_000, chance),
    )
    assert first != second
    assert make_run_id(1_700_000_000_001, chance) > max(first, second)
