"""What a function is given of rows that are stored by column."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.live.fields import TOGETHER, Column, Fields, coded

COLUMNS: dict[str, Column] = {
    "name": ["a", "b", "c", "d"],
    "level": coded(["ok", "crit", "ok", "ok"]),
    "whole": coded([True, None, False, True]),
}
FIELDS = Fields(COLUMNS, frozenset({"whole"}))
IN_ONE_COLUMN = Fields(
    {
        "name": COLUMNS["name"],
        TOGETHER: coded([("ok", True), ("crit", None), ("ok", False), ("ok", True)]),
    },
    frozenset({"whole"}),
    ("level", "whole"),
)
"""The same rows, two fields of which are in one column."""


def test_a_value_is_stored_once_and_each_row_has_its_place() -> None:
    assert coded(["x", "y", "x"]) == {"values": ["x", "y"], "codes": [0, 1, 0]}
    assert coded([]) == {"values": [], "codes": []}


def test_a_function_gets_the_fields_that_it_reads_and_no_others() -> None:
    assert FIELDS.each(dict, ("name", "level")) == [
        {"name": "a", "level": "ok"},
        {"name": "b", "level": "crit"},
        {"name": "c", "level": "ok"},
        {"name": "d", "level": "ok"},
    ]
    assert FIELDS.each(lambda row: row["name"], ("name",)) == ["a", "b", "c", "d"]


def test_it_is_called_once_for_each_value_of_a_coded_column() -> None:
    given: list[dict[str, Any]] = []

    def note(row: dict[str, Any]) -> int:
        given.append(row)
        return len(given)

    assert IN_ONE_COLUMN.each(note, ("level", "whole")) == [1, 2, 3, 1]
    expected = [
        {"level": "ok", "whole": True},
        {"level": "crit"},
        {"level": "ok", "whole": False},
    ]
    assert given == expected
    assert list(IN_ONE_COLUMN.different(dict, ("level", "whole"))) == expected
    levels = [{"level": "ok"}, {"level": "crit"}]
    assert list(FIELDS.different(dict, ("level",))) == levels
    names = FIELDS.each(dict, ("name",))
    assert list(FIELDS.different(dict, ("name",))) == names


def test_fields_of_different_columns_are_looked_at_row_by_row() -> None:
    assert FIELDS.each(dict, ("whole", "level", "name")) == [
        {"whole": True, "level": "ok", "name": "a"},
        {"level": "crit", "name": "b"},
        {"whole": False, "level": "ok", "name": "c"},
        {"whole": True, "level": "ok", "name": "d"},
    ]
    assert IN_ONE_COLUMN.each(dict, ("name", "whole")) == FIELDS.each(
        dict, ("name", "whole")
    )


@pytest.mark.parametrize("fields", [FIELDS, IN_ONE_COLUMN])
def test_rows_are_found_and_sorted_as_if_each_were_looked_at(fields: Fields) -> None:
    for reads in ("level", "whole"), ("whole",), ("level",), ("name", "level"):
        rows = FIELDS.each(dict, reads)
        assert fields.each(dict, reads) == rows
        for field in reads:
            for value in "ok", "b", True, None:

                def has(
                    row: dict[str, Any], field: str = field, value: Any = value
                ) -> bool:
                    return row.get(field) == value

                assert fields.flags(has, reads) == bytes(has(row) for row in rows)
        order = sorted(range(len(rows)), key=lambda at: str(rows[at]))
        assert fields.sorted_by(str, reads) == order


@pytest.mark.parametrize("values", [1, 255, 256, 257, 1000])
def test_rows_of_many_different_values_are_found(values: int) -> None:
    fields = Fields({"topic": coded([at % values for at in range(3000)])})
    found = fields.flags(lambda row: row["topic"] % 3 == 2, ("topic",))
    assert found == bytes(at % values % 3 == 2 for at in range(3000))


def test_only_what_is_stored_can_be_read() -> None:
    assert FIELDS.have(("name", "whole"))
    assert not FIELDS.have(("name", "lag"))
    # A function that does not say what it reads may read anything.
    assert not FIELDS.have(())


def test_texts_of_fields_are_joined_and_so_are_lists_of_them() -> None:
    fields = Fields(
        {"name": ["a", "b"], "topics": coded([("t", "u"), ()])}, frozenset({"topics"})
    )
    assert fields.texts(("name", "topics"), "|") == ["a|t|u", "b|"]
    assert FIELDS.texts(("level",), "|") == ["ok", "crit", "ok", "ok"]
