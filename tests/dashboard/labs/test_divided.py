from __future__ import annotations

from dashboard.labs.divided import divided


def test_queues_stand_in_columns_of_equal_width() -> None:
    picture = divided("T", {"c2": [2, 3], "c1": [0, 1]}, [])
    assert [(row.member, row.slot) for row in picture.rows] == [("c1", 0), ("c2", 1)]
    assert [(cell.x, cell.width) for cell in picture.rows[1].cells] == [
        (50.0, 25.0),
        (75.0, 25.0),
    ]
    assert (picture.queues, picture.nobody, picture.numbered) == (4, (), True)


def test_what_nobody_and_what_several_hold_is_marked() -> None:
    picture = divided("T", {"c1": [0], "c2": [0]}, [1])
    assert [row.cells[0].shared for row in picture.rows] == [True, True]
    assert [cell.queue_id for cell in picture.nobody] == [1]


def test_where_each_member_is_meant_to_hold_all_nothing_is_shared() -> None:
    picture = divided("T", {"c1": [0, 1], "c2": [0, 1]}, None)
    assert not any(cell.shared for row in picture.rows for cell in row.cells)
    assert (picture.nobody, picture.queues) == (None, 2)


def test_many_queues_have_no_numbers_and_none_is_no_division_by_zero() -> None:
    assert not divided("T", {"c1": list(range(33))}, []).numbered
    assert divided("T", {"c1": []}, []).queues == 0
