from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.model.columns import Column, Reason, joined, reason_code

ROWS = st.lists(st.integers(-(2**63), 2**63 - 1) | st.sampled_from(Reason), max_size=30)


def rows_of(column: Column) -> list[int | Reason | None]:
    return [
        column.reason(row) if column[row] is None else column[row]
        for row in range(len(column))
    ]


@given(ROWS)
def test_a_column_gives_back_what_it_was_made_of(rows: list[int | Reason]) -> None:
    column = Column.of(rows)
    assert rows_of(column) == rows
    assert list(column) == [None if isinstance(r, Reason) else r for r in rows]


@given(ROWS)
def test_known_rows_and_completeness(rows: list[int | Reason]) -> None:
    column = Column.of(rows)
    known = [row for row in rows if not isinstance(row, Reason)]
    assert column.known_rows == len(known)
    assert column.complete == (len(known) == len(rows))
    assert column.total() == sum(known)


def test_a_complete_column_carries_no_reasons() -> None:
    assert Column.of([1, 2]).reasons == b""
    assert Column.of([1, 2]).reason(0) is None


def test_zero_and_minus_one_are_values() -> None:
    column = Column.of([0, -1, Reason.NO_ANSWER])
    assert list(column) == [0, -1, None]


def test_a_column_of_unknowns_is_shared() -> None:
    column = Column.unknown(3, Reason.NOT_ASKED)
    assert list(column) == [None, None, None]
    assert column is Column.unknown(3, Reason.NOT_ASKED)


@given(ROWS, ROWS)
def test_equality_and_changed_rows(
    first: list[int | Reason], second: list[int | Reason]
) -> None:
    length = min(len(first), len(second))
    before, after = Column.of(first[:length]), Column.of(second[:length])
    changed = [row for row in range(length) if first[row] != second[row]]
    assert after.changed_rows(before) == changed
    assert (before == after) == (not changed)


def test_the_same_number_for_another_reason_is_a_change() -> None:
    before = Column.of([Reason.BUSY, 1])
    after = Column.of([Reason.NO_ANSWER, 1])
    assert before.changed_rows(after) == [0]


def test_a_column_equals_columns_only() -> None:
    assert Column.of([1]) != [1]


def test_columns_are_not_hashable() -> None:
    with pytest.raises(TypeError):
        hash(Column.of([1]))


@given(st.lists(ROWS, min_size=1, max_size=5))
def test_joined_columns_are_their_rows_in_order(
    parts: list[list[int | Reason]],
) -> None:
    together = joined([Column.of(part) for part in parts])
    assert rows_of(together) == [row for part in parts for row in part]


def test_joining_one_column_makes_no_copy() -> None:
    column = Column.of([1])
    assert joined([column]) is column


def test_each_reason_has_a_byte_of_its_own() -> None:
    codes = {reason_code(reason) for reason in Reason}
    assert len(codes) == len(Reason)
    assert 0 not in codes


def test_the_text_of_a_column_shows_reasons() -> None:
    column = Column(array("q", [5, 0]), bytes([0, reason_code(Reason.EXPIRED)]))
    assert repr(column) == f"Column({[5, Reason.EXPIRED]})"
