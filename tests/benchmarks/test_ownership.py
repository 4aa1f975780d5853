"""Spells of double ownership and gaps, from changes made by hand."""

from __future__ import annotations

from benchmarks.ownership import (
    MS,
    Change,
    Ownership,
    Spell,
    is_exact,
    longest_ms,
    quantile_ms,
)
from rmqcore.model import MessageQueue

Q0 = MessageQueue("T", "b", 0)
Q1 = MessageQueue("T", "b", 1)


def judged(*changes: tuple[int, str, bool], until: int = 1000) -> Ownership:
    return Ownership.of(
        (Change(at * MS, who, Q0, held) for at, who, held in changes), until * MS
    )


def test_a_clean_handover_is_a_gap_of_its_length() -> None:
    seen = judged((10, "a", True), (50, "a", False), (70, "b", True))
    assert seen.gaps == [Spell(Q0, 50 * MS, 70 * MS)]
    assert (seen.doubles, seen.moves) == ([], 1)


def test_two_at_once_own_it_twice() -> None:
    seen = judged((10, "a", True), (50, "b", True), (90, "a", False))
    assert seen.doubles == [Spell(Q0, 50 * MS, 90 * MS)]
    assert (seen.gaps, seen.moves) == ([], 1)


def test_a_third_owner_does_not_begin_another_spell() -> None:
    seen = judged(
        (10, "a", True),
        (20, "b", True),
        (30, "c", True),
        (40, "a", False),
        (50, "b", False),
    )
    assert [spell.ms for spell in seen.doubles] == [30]


def test_before_the_first_owner_there_is_no_gap() -> None:
    seen = judged((500, "a", True), until=600)
    assert (seen.gaps, seen.doubles, seen.moves) == ([], [], 0)


def test_a_spell_that_is_open_at_the_end_counts() -> None:
    assert judged((1, "a", True), (900, "a", False)).gaps[0].ms == 100
    assert judged((1, "a", True), (800, "b", True)).doubles[0].ms == 200


def test_coming_back_to_the_same_owner_is_no_move() -> None:
    seen = judged((1, "a", True), (2, "a", False), (5, "a", True))
    assert (seen.moves, [spell.ms for spell in seen.gaps]) == (0, [3])


def test_changes_are_judged_in_the_order_of_their_times() -> None:
    seen = judged((70, "b", True), (50, "a", False), (10, "a", True))
    assert [spell.ms for spell in seen.gaps] == [20]


def test_exact_means_one_owner_each_and_the_right_one() -> None:
    parts = {"a": [Q0], "b": [Q1]}
    assert is_exact({Q0: {"a"}, Q1: {"b"}}, parts)
    assert not is_exact({Q0: {"a"}, Q1: {"a"}}, parts)
    assert not is_exact({Q0: {"a", "b"}, Q1: {"b"}}, parts)
    assert not is_exact({Q0: {"a"}, Q1: set()}, parts)
    assert not is_exact({Q0: {"a"}}, parts)


def test_lengths_are_summed_up() -> None:
    spells = [Spell(Q0, 0, ms * MS) for ms in (5, 1, 9, 3)]
    assert longest_ms(spells) == 9
    assert quantile_ms(spells, 0.5) == 5
    assert quantile_ms(spells, 1.0) == 9
    assert longest_ms([]) == quantile_ms([], 0.5) == 0
